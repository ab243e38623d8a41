/** Installs the system packages for users' computers and browsers, if this machine allows it. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

// A sandboxed computer sees only /usr, so a program in a home folder does not count.
const wanted = [
  { file: '/usr/bin/bwrap', package: 'bubblewrap', for: 'confines what agents run' },
  { file: '/usr/bin/socat', package: 'socat', for: 'is their way to the network' },
  { file: '/usr/bin/git', package: 'git', for: 'clones repositories' },
  { file: '/usr/bin/curl', package: 'curl', for: 'fetches what agents ask for' },
  { file: '/usr/bin/python3', package: 'python3', for: 'runs the scripts of skills' },
  { file: '/usr/bin/pdftotext', package: 'poppler-utils', for: 'reads PDF files and draws their pages' },
  { file: '/usr/lib/python3/dist-packages/docx', package: 'python3-docx', for: 'writes and reads Word files' },
  { file: '/usr/lib/python3/dist-packages/openpyxl', package: 'python3-openpyxl', for: 'writes and reads Excel files' },
  {
    file: '/usr/lib/python3/dist-packages/reportlab',
    package: 'python3-reportlab',
    for: 'writes PDF files',
  },
  { file: '/usr/share/doc/python3-renderpm', package: 'python3-renderpm', for: 'draws charts' },
  { file: '/usr/lib/python3/dist-packages/pypdf', package: 'python3-pypdf', for: 'fills in PDF forms' },
  { file: '/usr/bin/chromium-headless-shell', package: 'chromium-headless-shell', for: 'is the browser' },
  { file: '/usr/share/fonts/truetype/liberation', package: 'fonts-liberation', for: 'is what pages are written in' },
];

const wantedByTests = [
  {
    file: '/usr/lib/python3/dist-packages/httpx',
    package: 'python3-httpx',
    for: 'is what the Python client is tried with',
  },
  { file: '/usr/lib/python3/dist-packages/yaml', package: 'python3-yaml', for: 'reads deployment files in Python' },
];

const missing = [...wanted, ...wantedByTests].filter(({ file }) => !existsSync(file));
if (missing.length === 0) {
  console.log('Everything is installed.');
  process.exit(0);
}

const packages = missing.map((each) => each.package);
if (process.platform !== 'linux') {
  console.log('Computers and browsers of users need Linux. Here computers run on just-bash, and there is no browser.');
  process.exit(0);
}
if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
  console.log('Install these with the package manager of your system:');
  for (const each of missing) console.log(`  ${each.package}: ${each.for}`);
  process.exit(0);
}

const apt = (...words: string[]) =>
  spawnSync('apt-get', words, { stdio: 'inherit', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } }).status;

// The package lists may exist already, and updating them takes longer than the installation.
const install = () => apt('install', '--yes', '--no-install-recommends', ...packages);
if (install() !== 0 && (apt('update') !== 0 || install() !== 0)) {
  console.error(`Not everything could be installed: ${packages.join(', ')}.`);
  process.exit(1);
}
