import { describe } from 'vitest';
import { fileEdges, idBody, letters, times } from './limit-edges.fixture.ts';

const fileId = `file_${idBody}`;

describe("limits of the computer's setup", () => {
  const repo = 'git.example.com/owner/repo';
  fileEdges('computer', [
    ['a setup of 20000', { setup: letters(20_000) }, { setup: letters(20_001) }, 'computer.setup'],
    ['10 repos', { repos: times(10, repo) }, { repos: times(11, repo) }, 'computer.repos'],
    [
      'a repo as text',
      { repos: [`https://${repo}.git`] },
      { repos: ['owner/repo'] },
      'computer.repos.0',
      'invalid_repo',
    ],
    [
      'a repo without a password',
      { repos: [repo] },
      { repos: [`https://me:pw@${repo}`] },
      'computer.repos.0',
      'invalid_repo',
    ],
    [
      'a repo as an object',
      { repos: [{ url: repo }] },
      { repos: [{ url: 'repo' }] },
      'computer.repos.0.url',
      'invalid_repo',
    ],
    [
      'a URL of 2048',
      { repos: [{ url: `a.io/b/${letters(2041)}` }] },
      { repos: [{ url: `a.io/b/${letters(2042)}` }] },
      'computer.repos.0.url',
      'invalid_repo',
    ],
    [
      'a ref of 200',
      { repos: [{ url: repo, ref: letters(200) }] },
      { repos: [{ url: repo, ref: letters(201) }] },
      'computer.repos.0.ref',
    ],
    [
      'a ref is no option',
      { repos: [{ url: repo, ref: 'a-b' }] },
      { repos: [{ url: repo, ref: '--upload-pack=x' }] },
      'computer.repos.0.ref',
    ],
    [
      'a folder of 200',
      { repos: [{ url: repo, path: letters(200) }] },
      { repos: [{ url: repo, path: letters(201) }] },
      'computer.repos.0.path',
    ],
    [
      'a token is a reference',
      { repos: [{ url: repo, token: '${GIT_TOKEN}' }] },
      { repos: [{ url: repo, token: 'ghp_1' }] },
      'computer.repos.0.token',
      'raw_secret_in_header',
    ],
    [
      'a token is the company’s',
      { repos: [{ url: repo, token: '${secret:GIT_TOKEN}' }] },
      { repos: [{ url: repo, token: '${user_secret:GIT_TOKEN}' }] },
      'computer.repos.0.token',
      'raw_secret_in_header',
    ],
    ['env is text', { env: { REGION: 'eu' } }, { env: { REGION: 1 } }, 'computer.env.REGION'],
    ['an env name', { env: { _A1: '' } }, { env: { 'A=B': '' } }, 'computer.env.A=B'],
    [
      '50 files',
      { files: times(50, { file_id: fileId, path: 'a' }) },
      { files: times(51, { file_id: fileId, path: 'a' }) },
      'computer.files',
    ],
    [
      'a file path of 200',
      { files: [{ file_id: fileId, path: letters(200) }] },
      { files: [{ file_id: fileId, path: letters(201) }] },
      'computer.files.0.path',
    ],
    [
      'a file id',
      { files: [{ file_id: fileId, path: 'a' }] },
      { files: [{ file_id: 'file_1', path: 'a' }] },
      'computer.files.0.file_id',
    ],
    [
      'a folder of 1',
      { repos: [{ url: repo, path: 'a' }] },
      { repos: [{ url: repo, path: '' }] },
      'computer.repos.0.path',
    ],
    [
      'a file path of 1',
      { files: [{ file_id: fileId, path: 'a' }] },
      { files: [{ file_id: fileId, path: '' }] },
      'computer.files.0.path',
    ],
    [
      'an env name of 128',
      { env: { [letters(128)]: '' } },
      { env: { [letters(129)]: '' } },
      `computer.env.${letters(129)}`,
    ],
    ['an env value of 8192', { env: { A: letters(8192) } }, { env: { A: letters(8193) } }, 'computer.env.A'],
    [
      'a token name of 64',
      { repos: [{ url: repo, token: `\${${'A'.repeat(64)}}` }] },
      { repos: [{ url: repo, token: `\${${'A'.repeat(65)}}` }] },
      'computer.repos.0.token',
      'raw_secret_in_header',
    ],
  ]);
});
