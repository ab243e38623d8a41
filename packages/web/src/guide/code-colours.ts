/** Highlights comments, strings and keywords as HTML. Full grammars would be larger than all pages together. */
export function colouredCode(code: string, language: string): string {
  const rules = rulesOf(language);
  if (rules === null) return escapeHtml(code);
  const pattern = new RegExp(rules.map(([name, rule]) => `(?<${name}>${rule})`).join('|'), 'gm');
  let html = '';
  let from = 0;
  for (const match of code.matchAll(pattern)) {
    const [name] = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined) ?? ['plain'];
    html += `${escapeHtml(code.slice(from, match.index))}<span class="code-${name}">${escapeHtml(match[0])}</span>`;
    from = match.index + match[0].length;
  }
  return html + escapeHtml(code.slice(from));
}

export const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** The first matching rule wins. */
type Rule = [name: 'comment' | 'string' | 'word' | 'prompt', pattern: string];

const quoted = `"(?:[^"\\\\\\n]|\\\\.)*"|'(?:[^'\\\\\\n]|\\\\.)*'`;
const hashComment: Rule = ['comment', '(?:^|(?<=\\s))#.*$'];

const script: Rule[] = [
  ['comment', '//.*$|/\\*[\\s\\S]*?\\*/'],
  ['string', `${quoted}|\`(?:[^\`\\\\]|\\\\.)*\``],
  [
    'word',
    '\\b(?:import|export|from|const|let|await|async|for|of|if|else|return|new|throw|type|function|default|while|try|catch)\\b',
  ],
];
const python: Rule[] = [
  hashComment,
  ['string', quoted],
  [
    'word',
    '\\b(?:import|from|def|class|return|for|in|if|else|elif|with|as|async|await|raise|try|except|while|not|and|or|None|True|False)\\b',
  ],
];
const shell: Rule[] = [['prompt', '^\\$ '], hashComment, ['string', quoted]];
const fields: Rule[] = [hashComment, ['word', '^\\s*(?:- )?[\\w-]+(?=:(?:\\s|$))'], ['string', quoted]];

function rulesOf(language: string): Rule[] | null {
  if (['ts', 'tsx', 'js', 'jsx', 'mjs', 'json', 'css'].includes(language)) return script;
  if (['sh', 'console', 'bash', 'cron', 'ini'].includes(language)) return shell;
  if (language === 'yaml') return fields;
  if (language === 'python' || language === 'py') return python;
  if (language === 'html')
    return [
      ['comment', '<!--[\\s\\S]*?-->'],
      ['string', quoted],
      ['word', '</?[\\w-]+|/?>'],
    ];
  return null;
}
