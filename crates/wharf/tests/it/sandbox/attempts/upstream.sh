# A repository as projects have it: settings of editors and agents are tracked, and differ from branch to branch.
#   upstream.sh DIRECTORY
set -eu
mkdir "$1/work" && cd "$1/work" && git init -q .
put() { mkdir -p "$(dirname "$1")" && printf '%s\n' "$2" > "$1"; }
put file one; put .vscode/settings.json '{}'; put .claude/settings.json '{}'
git add -A && git commit -qm first
git checkout -qb adds
put .mcp.json '{"mcpServers":{}}'; put .idea/misc.xml '<x/>'; put .vscode/tasks.json '{}'
git add -A && git commit -qm adds
git checkout -qb changes main
put .vscode/settings.json '{"a":1}'; put .claude/settings.json '{"b":2}'; put file two
git commit -qam changes
git checkout -qb removes main
git rm -rq .vscode .claude && git commit -qm removes
git checkout -q main
git init -q "$1/part" && cd "$1/part" && put lib code && git add -A && git commit -qm part
git clone -q --bare "$1/work" "$1/up.git"
