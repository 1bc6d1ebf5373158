# What people do with git and scaffolding in a week, in a project that is empty to begin with.
#   week.sh DIRECTORY-WITH-UPSTREAM
set -eu
up=$1
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=protocol.file.allow GIT_CONFIG_VALUE_0=always
# The tree is exactly what git says.
clean() { test -z "$(git status --porcelain --ignored)" || { git status --short --ignored; echo "not clean: $1"; exit 1; }; echo "ok $1"; }
test -z "$(ls -A)"
git clone -q "$up/up.git" . && clean clone
git config user.name 'A Person' && git config user.email person@example.org
for branch in adds changes removes adds removes main changes main; do
    git checkout -q "$branch"
    test -z "$(git diff "origin/$branch")" && clean "checkout of $branch"
done
git checkout -qb merged origin/main && git merge -q --no-edit origin/adds && git merge -q --no-edit origin/changes && clean merge
git checkout -qb moved origin/adds && git rebase -q origin/changes && test -e .mcp.json && grep -q a .vscode/settings.json && clean rebase
git checkout -qb gone origin/adds && git merge -q --no-edit origin/removes && test ! -e .claude && test -e .mcp.json && clean 'merge of removals'
git checkout -q changes && echo '{"mine":1}' > .vscode/settings.json && git stash -q && clean stash
git checkout -q adds && git checkout -q changes && git stash pop -q && grep -q mine .vscode/settings.json
git checkout -q .vscode && clean 'stash pop'
mkdir -p .idea .cursor && echo x > .idea/own && echo x > .cursor/mcp.json && echo x > .mcp.json
git stash -q -u && test ! -e .idea && test ! -e .mcp.json && clean 'stash of untracked files'
git stash pop -q && test -e .cursor/mcp.json && git clean -fdxq && clean 'removal of untracked files'
git reset -q --hard origin/adds && git reset -q --hard origin/removes && git switch -q main && clean reset
git worktree add -q tree adds && (cd tree && echo two > file && git commit -qam beside) && git worktree remove tree && clean worktree
git submodule --quiet add "$up/part" part && git commit -qm part && (cd part && echo more >> lib && git commit -qam more)
git commit -qam 'part moved' && git submodule --quiet update --init && clean submodule
git cherry-pick origin/adds >/dev/null && git revert --no-edit HEAD >/dev/null && git commit -q --amend -m again && clean 'cherry-pick and revert'
git bisect start -q HEAD origin/main >/dev/null && git bisect reset -q >/dev/null 2>&1 || git bisect reset >/dev/null 2>&1
git gc -q && git fsck >/dev/null 2>&1 && git tag v1 && clean tidying
if command -v cargo >/dev/null; then cargo init -q --vcs none app && test -e app/Cargo.toml && echo 'ok cargo init'; else echo 'ok cargo init'; fi
if command -v npm >/dev/null; then (mkdir web && cd web && npm init -y >/dev/null && test -e package.json) && echo 'ok npm init'; else echo 'ok npm init'; fi
echo end
