/usr/bin/python3 -c '
import zipfile
about = "demo-1.0.dist-info/"
with zipfile.ZipFile("demo-1.0-py3-none-any.whl", "w") as wheel:
    wheel.writestr("demo_module.py", "word = \"honest\"\n")
    wheel.writestr(about + "METADATA", "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n")
    wheel.writestr(about + "WHEEL", "Wheel-Version: 1.0\nGenerator: none\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    wheel.writestr(about + "RECORD", "".join(f"{name},,\n" for name in [*wheel.namelist(), about + "RECORD"]))'
