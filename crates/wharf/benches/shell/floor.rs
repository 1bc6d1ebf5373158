//! Bash at the end of a pipe: what no shell on a terminal can undercut.

use crate::Outcome;
use crate::place::{Place, program};
use crate::side::{Answer, Side};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

struct Floor {
    dir: PathBuf,
    shells: HashMap<String, Bash>,
    last: String,
}

struct Bash {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

pub(crate) fn start(place: &Place) -> Outcome<Box<dyn Side>> {
    Ok(Box::new(Floor { dir: place.path().into(), shells: HashMap::new(), last: String::new() }))
}

impl Floor {
    fn shell(&mut self, name: &str) -> Outcome<&mut Bash> {
        Ok(self.shells.get_mut(name).ok_or("there is no such shell")?)
    }
}

impl Side for Floor {
    fn open(&mut self, names: &[String]) -> Outcome {
        for name in names {
            let mut bash = program(&self.dir, "bash");
            bash.args(["--norc", "--noprofile"]).stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = bash.spawn()?;
            let (to, from) = child.stdin.take().zip(child.stdout.take()).ok_or("bash has no pipes")?;
            self.shells.insert(name.clone(), Bash { child, to, from: BufReader::new(from) });
            self.run(std::slice::from_ref(name), "true")?;
        }
        Ok(())
    }

    fn run(&mut self, names: &[String], command: &str) -> Outcome<Vec<Answer>> {
        for name in names {
            self.shell(name)?.to.write_all(format!("{command}\nprintf '\\0%s\\n' $?\n").as_bytes())?;
        }
        let answers = names.iter().map(|name| self.shell(name)?.answer()).collect::<Outcome<Vec<_>>>()?;
        self.last = answers.last().map(|answer| answer.output.clone()).unwrap_or_default();
        Ok(answers)
    }

    fn rest(&mut self, _: &str) -> Outcome<String> {
        Ok(self.last.clone())
    }
}

impl Bash {
    fn answer(&mut self) -> Outcome<Answer> {
        let (mut output, mut code) = (Vec::new(), String::new());
        self.from.read_until(0, &mut output)?;
        output.pop();
        self.from.read_line(&mut code)?;
        Ok(Answer { exit_code: code.trim().parse().ok(), output: String::from_utf8(output)? })
    }
}

impl Drop for Bash {
    fn drop(&mut self) {
        let _ = self.to.write_all(b"exit\n");
        let _ = self.child.wait();
    }
}
