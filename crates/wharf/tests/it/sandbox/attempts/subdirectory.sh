# A part of a working tree as the project: its repository is usable, the rest of the tree is read.
set -eu
echo two >> inner && git add inner && git commit -qm inner && git log -1 --format=%s
echo three >> inner && git stash -q && git stash pop -q && git commit -qam again
git checkout -qb side HEAD~1 && echo other > beside && git add beside && git commit -qm beside && git rebase -q main && git log --format=%s -3
touch ../outer 2>/dev/null && echo 'the rest can be written' || echo 'the rest is read'
