// The shop's own server. It alone has the API key; its pages get sessions.
//   npx vestra org update --allowed-embed-origins http://localhost:3000
//   VESTRA_KEY=vk_test_… node server.js
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';

const { VESTRA_URL = 'http://127.0.0.1:4600', VESTRA_KEY, PORT = '3000' } = process.env;
const pages = { '/': 'index.html', '/react': 'react.html', '/app.js': 'app.js' };

// Who is signed in: your own login says so, never what a page sends along.
const userOf = ({ headers }) => /(?:^|; )customer=([\w-]{1,64})/.exec(headers.cookie ?? '')?.[1] ?? 'nora';

async function openSession(userId) {
  const response = await fetch(`${VESTRA_URL}/v1/sessions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${VESTRA_KEY}`, 'content-type': 'application/json' },
    // The same conversation each time, also when the page is loaded again and when the session is renewed.
    body: JSON.stringify({ user_id: userId, deployment: 'support-desk', chat: true, reuse: true }),
  });
  const session = await response.json();
  if (!response.ok) throw new Error(session.error.message);
  return { url: session.url };
}

const server = createServer(async (request, response) => {
  const send = (status, type, body) => response.writeHead(status, { 'content-type': type }).end(body);
  try {
    if (request.method === 'POST' && request.url === '/agent-session') {
      return send(200, 'application/json', JSON.stringify(await openSession(userOf(request))));
    }
    const file = request.method === 'GET' && pages[request.url];
    if (!file) return send(404, 'text/plain', 'Not here.');
    const type = file.endsWith('.js') ? 'text/javascript' : 'text/html; charset=utf-8';
    const page = await readFile(join(import.meta.dirname, file), 'utf8');
    send(200, type, page.replaceAll('https://vestra.example.com', VESTRA_URL));
  } catch (error) {
    console.error(error.message);
    send(502, 'text/plain', 'Please try again.');
  }
});
server.listen(Number(PORT), '127.0.0.1', () => console.log(`The shop is at http://localhost:${server.address().port}`));
