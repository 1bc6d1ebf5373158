mkdir -p dep/src top/src fresh/src other/src
for crate in dep other; do
    printf '[package]\nname = "%s"\nversion = "0.1.0"\nedition = "2021"\n' $crate > $crate/Cargo.toml
    echo 'fn main() {}' > $crate/build.rs && echo 'pub const WORD: &str = "honest";' > $crate/src/lib.rs
    (cd $crate && git init -q . && git add . && git commit -qm first)
done
crate() {
    printf '[package]\nname = "%s"\nversion = "0.1.0"\nedition = "2021"\n[workspace]\n[dependencies]\n%s = { git = "file://%s/%s" }\n' $1 $2 "$PWD" $2 > $1/Cargo.toml
    echo "fn main() { println!(\"{}\", $2::WORD) }" > $1/src/main.rs
}
crate top dep
crate fresh other
(cd top && cargo fetch -q)
