//! Real processes, one promise a test: the table of contents.

#[cfg(test)]
mod backlog;
#[cfg(test)]
mod campaign;
#[cfg(test)]
mod embedding;
#[cfg(test)]
mod end;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod faults_creator;
#[cfg(test)]
mod faults_disk;
#[cfg(test)]
mod faults_holder;
#[cfg(test)]
mod input;
#[cfg(test)]
mod kill;
#[cfg(test)]
mod output;
#[cfg(test)]
mod owner;
#[cfg(test)]
mod retention;
#[cfg(test)]
mod start;
