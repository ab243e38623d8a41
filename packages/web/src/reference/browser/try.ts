const keyName = 'vestra-test-key';

/** More than a reader can use. A stream of events is cut there. */
const longestAnswer = 200_000;

/** Sends a form of the reference as a request. The key stays in this tab. */
export function sendRequest(form: HTMLFormElement): void {
  const key = form.elements.namedItem('key') as HTMLInputElement;
  const output = form.querySelector('output') as HTMLOutputElement;
  let ongoing: AbortController | null = null;
  form.addEventListener('focusin', () => {
    if (key.value === '') key.value = keptKey();
  });
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    ongoing?.abort();
    if (!key.value.startsWith('vk_test_')) {
      show(output, 'Use a test key (vk_test_…). This page sends real requests.');
      return;
    }
    keepKey(key.value);
    ongoing = new AbortController();
    const { signal } = ongoing;
    show(output, 'Sending…');
    try {
      const response = await fetch(...requestOf(form, key.value, signal));
      await showResponse(output, response, signal);
    } catch (error) {
      if (!signal.aborted)
        show(
          output,
          error instanceof SyntaxError ? `The body is not JSON: ${error.message}` : 'The server cannot be reached.',
        );
    }
  });
}

function requestOf(form: HTMLFormElement, key: string, signal: AbortSignal): [string, RequestInit] {
  const { method = 'GET', path = '' } = form.dataset;
  const headers: Record<string, string> = { authorization: `Bearer ${key}` };
  const query = new URLSearchParams();
  let address = path;
  let body: BodyInit | null = null;
  for (const field of form.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>('[data-place]')) {
    const { name, value } = field;
    const { place } = field.dataset;
    if (place === 'path') address = address.replace(`{${name}}`, encodeURIComponent(value));
    if (place === 'query' && value !== '') query.set(name, value);
    if (place === 'body') {
      // Parsed here, so that a slip is reported at once.
      body = JSON.stringify(JSON.parse(value));
      headers['content-type'] = 'application/json';
    }
    const file = field instanceof HTMLInputElement ? field.files?.[0] : undefined;
    if (place === 'file' && file) {
      const upload = new FormData();
      upload.set('file', file);
      body = upload;
    }
  }
  const search = query.toString();
  // The console's cookie must not replace the key.
  return [`${address}${search && `?${search}`}`, { method, headers, body, signal, credentials: 'omit' }];
}

/** Shows text as it arrives, so that a stream of events can be followed. */
async function showResponse(output: HTMLOutputElement, response: Response, signal: AbortSignal): Promise<void> {
  const first = `${response.status} ${response.statusText}\n\n`;
  const type = response.headers.get('content-type') ?? '';
  if (!/json|text|yaml/.test(type)) {
    show(output, `${first}${type}, ${(await response.arrayBuffer()).byteLength} bytes`);
    return;
  }
  let text = '';
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  while (reader && !signal.aborted) {
    const { value, done } = await reader.read();
    if (done) break;
    text += value;
    if (text.length > longestAnswer) {
      await reader.cancel();
      text = `${text.slice(0, longestAnswer)}\n…`;
      break;
    }
    show(output, first + text);
  }
  show(output, first + (type.startsWith('application/json') ? indented(text) : text));
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function show(output: HTMLOutputElement, text: string): void {
  const pre = document.createElement('pre');
  pre.tabIndex = 0;
  pre.textContent = text;
  output.replaceChildren(pre);
}

function keptKey(): string {
  try {
    return sessionStorage.getItem(keyName) ?? '';
  } catch {
    return '';
  }
}

function keepKey(key: string): void {
  try {
    sessionStorage.setItem(keyName, key);
  } catch {
    // Without storage the key lasts until the next page.
  }
}
