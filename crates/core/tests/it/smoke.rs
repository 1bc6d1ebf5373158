use std::time::Duration;
use wharf_core::*;

fn store(dir: &tempfile::TempDir, holder: Holder) -> Store {
    Store::open(Dirs::under(dir.path().join("s")), holder).unwrap()
}
fn shim() -> Holder {
    let exe = std::env::current_exe().unwrap();
    Holder::Process(exe.parent().unwrap().parent().unwrap().join("wharf-shim"))
}

#[tokio::test]
async fn smoke() {
    for holder in [shim(), Holder::Thread] {
        let dir = tempfile::tempdir().unwrap();
        let store = store(&dir, holder);
        let t = store.create(unrestricted(Spec::shell_line("/bin/sh", "echo hello; exit 3").env("PATH", "/bin")).unwrap()).await.unwrap();
        let e = t.wait().await.unwrap();
        println!("{e:?}");
        assert_eq!(t.text(100).unwrap(), ("hello\n".into(), false));
        assert_eq!(e.exit_code(), Some(3));
        t.release().await.unwrap();
        let t = store.create(unrestricted(Spec::shell_line("/bin/sh", "stty size; tty; echo hi; (setsid sleep 100 &) ; sleep 100").pty(Size{cols:99,rows:7}).env("PATH", "/bin:/usr/bin")).unwrap()).await.unwrap();
        let mut r = t.reader(0);
        let mut all = Vec::new();
        while !all.ends_with(b"hi\r\n") {
            match r.next(1000).await.unwrap() { Step::Output(c) => all.extend(c.bytes), o => panic!("{o:?}") }
        }
        println!("{}", String::from_utf8_lossy(&all));
        let n = t.kill("me", Some(Duration::from_secs(1))).await.unwrap();
        println!("killed {n} {:?}", t.wait().await.unwrap());
        t.release().await.unwrap();
        assert_eq!(std::fs::read_dir(dir.path().join("s/terminals")).unwrap().count(), 0);
        assert_eq!(std::fs::read_dir(dir.path().join("s/run")).unwrap().count(), 0);
    }
}
