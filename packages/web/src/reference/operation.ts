import type { ApiOperation } from '@vestra/contract/derive/api-pages';
import { colouredCode, escapeHtml } from '../guide/code-colours.ts';

const languages: Readonly<Record<string, string>> = { curl: 'sh', TypeScript: 'ts', Python: 'python' };

/** One operation: its text on the left, code and a form to try it on the right. */
export function operationHtml(operation: ApiOperation, text: string): string {
  const { id, title, method, path } = operation;
  const name = escapeHtml(title);
  const verb = method.toLowerCase();
  return `<section class="operation" id="${id}" aria-labelledby="${id}-title">
<div class="about">
<h2 id="${id}-title">${name}<a class="anchor" href="#${id}" aria-label="Link to “${name}”">#</a></h2>
<p class="route"><span class="method ${verb}">${method}</span> <code>${pathHtml(path)}</code></p>
${text}
</div>
<div class="samples">
${samplesHtml(operation)}
${operation.takesKey ? tryHtml(operation) : ''}
</div>
</section>`;
}

/** A long path may break after each part. */
const pathHtml = (path: string) => escapeHtml(path).replaceAll('/', '/<wbr>');

function samplesHtml({ id, title, samples, answer }: ApiOperation): string {
  const tabs = samples.map(
    ({ label }, at) =>
      `<button type="button" role="tab" id="${id}-tab-${at}" aria-controls="${id}-code-${at}" aria-selected="${at === 0}" tabindex="${at === 0 ? 0 : -1}" data-language="${label}">${label}</button>`,
  );
  const panels = samples.map(
    ({ label, source }, at) =>
      `<div role="tabpanel" id="${id}-code-${at}" aria-labelledby="${id}-tab-${at}" data-language="${label}"${at === 0 ? '' : ' hidden'}>${codeHtml(source, languages[label] ?? '')}</div>`,
  );
  const response =
    answer === undefined
      ? ''
      : `<details class="response"><summary>Response</summary>${codeHtml(JSON.stringify(answer, null, 2), 'json')}</details>`;
  return `<div class="tabs" role="tablist" aria-label="${escapeHtml(title)} in">${tabs.join('')}</div>
${panels.join('\n')}
${response}`;
}

const codeHtml = (code: string, language: string) =>
  `<figure class="code"><pre tabindex="0"><code>${colouredCode(code, language)}</code></pre></figure>`;

/** The form works with the script of the page, which fills in the key. */
function tryHtml({ id, method, path, parameters, body, takesFile }: ApiOperation): string {
  const fields = parameters.map(({ name, in: place, required, example }) => {
    const value = example === undefined ? '' : ` placeholder="${escapeHtml(String(example))}"`;
    return `<label><span><code>${escapeHtml(name)}</code>${required ? ' (required)' : ''}</span><input name="${escapeHtml(name)}" data-place="${place}"${required ? ' required' : ''}${value} autocomplete="off" spellcheck="false"></label>`;
  });
  const text = body === undefined ? '' : escapeHtml(JSON.stringify(body, null, 2));
  const rows = Math.min(14, text.split('\n').length + 1);
  const sent = takesFile
    ? '<label><span>File</span><input name="file" type="file" data-place="file" required></label>'
    : body === undefined
      ? ''
      : `<label><span>Body</span><textarea name="body" data-place="body" rows="${rows}" spellcheck="false">${text}</textarea></label>`;
  return `<details class="try">
<summary>Try it</summary>
<form data-method="${method}" data-path="${escapeHtml(path)}" aria-label="Try it: ${id}">
<label><span>Test key</span><input name="key" type="password" data-place="key" required placeholder="vk_test_…" autocomplete="off" spellcheck="false"></label>
${fields.join('\n')}
${sent}
<button type="submit">Send ${method}</button>
<output></output>
</form>
</details>`;
}
