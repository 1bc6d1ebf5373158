mkdir left && echo '{"name":"left","version":"1.0.0"}' > left/package.json && echo 'module.exports = "honest"' > left/index.js
(cd left && npm pack --silent >/dev/null)
