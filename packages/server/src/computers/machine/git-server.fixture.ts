import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export type GitServer = {
  /** Host name and port: `localhost:1234`. */
  host: string;
  /** Commits files to a branch of `acme/<name>`, created if it is missing. */
  commit: (name: string, branch: string, files: Record<string, string>) => string;
  /** The Authorization header of every request for a repository, or null. */
  asked: (string | null)[];
  close: () => Promise<void>;
};

/** Repositories over git's protocol, served by git. With a token, no one reads without it. */
export async function startGitServer({ token }: { token: string | null }): Promise<GitServer> {
  const root = mkdtempSync(join(tmpdir(), 'vestra-git-'));
  const asked: (string | null)[] = [];
  const http = createServer((request, response) => {
    asked.push(request.headers.authorization ?? null);
    const given = Buffer.from(request.headers.authorization?.replace(/^Basic /, '') ?? '', 'base64').toString('utf8');
    if (token !== null && given.slice(given.indexOf(':') + 1) !== token) {
      return void response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end('Who are you?');
    }
    serve(root, request, response);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return {
    host: `localhost:${(http.address() as AddressInfo).port}`,
    asked,
    commit(name, branch, files) {
      const bare = join(root, 'acme', name);
      const work = join(root, 'work', name);
      const git = (folder: string, ...words: string[]) =>
        execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', ...words], {
          cwd: folder,
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'ignore'],
        }).trim();
      mkdirSync(work, { recursive: true });
      mkdirSync(dirname(bare), { recursive: true });
      execFileSync('git', ['init', '--quiet', '--bare', bare]);
      execFileSync('git', ['init', '--quiet', work]);
      git(work, 'checkout', '--quiet', '-B', branch);
      for (const [path, content] of Object.entries(files)) {
        mkdirSync(dirname(join(work, path)), { recursive: true });
        writeFileSync(join(work, path), content);
      }
      git(work, 'add', '.');
      git(work, 'commit', '--quiet', '--allow-empty', '-m', `On ${branch}`);
      git(work, 'push', '--quiet', '--force', bare, `${branch}:${branch}`);
      return git(work, 'rev-parse', 'HEAD');
    },
    async close() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
      rmSync(root, { recursive: true, force: true });
    },
  };
}

function serve(root: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  const backend = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: pathname,
      QUERY_STRING: searchParams.toString(),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'safe.directory',
      GIT_CONFIG_VALUE_0: '*',
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  request.pipe(backend.stdin);
  const chunks: Buffer[] = [];
  backend.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  backend.on('close', () => {
    const said = Buffer.concat(chunks);
    const end = said.indexOf('\r\n\r\n');
    const lines = said.subarray(0, end).toString('utf8').split('\r\n');
    const headers = Object.fromEntries(lines.map((line) => line.split(': ', 2) as [string, string]));
    const { Status: status = '200', ...rest } = headers;
    response.writeHead(Number.parseInt(status, 10), rest).end(said.subarray(end + 4));
  });
}
