import { misuse } from '../fault.ts';
import type { LocalInvocation, Outline } from '../invocation.ts';

/** Prints a completion script. It contains all words, so that pressing Tab starts no process. */
export async function completion({ terminal, words, outlines }: LocalInvocation): Promise<void> {
  const write = scripts[words[0] ?? ''];
  if (!write) throw misuse('Name a shell: vestra completion bash, zsh or fish.', '<shell>');
  terminal.out(write(outlines()));
}

const scripts: Record<string, (outlines: readonly Outline[]) => string> = { bash, zsh, fish };

/** Maps each prefix of a command to the possible next words: second words, flags, or both. */
function nextWords(outlines: readonly Outline[]): Map<string, string[]> {
  const next = new Map<string, Set<string>>();
  const add = (path: string, words: readonly string[]) => {
    next.set(path, new Set([...(next.get(path) ?? []), ...words]));
  };
  for (const { name, flags } of outlines) {
    const words = name.split(' ');
    for (const [at, word] of words.entries()) add(words.slice(0, at).join(' '), [word]);
    add(name, flags);
  }
  return new Map([...next].map(([path, words]) => [path, [...words]]));
}

/** Longest first, so that `users get` does not match `users`. */
function cases(outlines: readonly Outline[]): string {
  const rows = [...nextWords(outlines)].sort(([one], [other]) => other.length - one.length);
  return rows
    .map(([path, words]) => `    ${path === '' ? '*' : `'${path}'|'${path} '*`}) words='${words.join(' ')}' ;;`)
    .join('\n');
}

/** The words typed so far without flags are the path. */
function bash(outlines: readonly Outline[]): string {
  return `# Completion for vestra. Add to ~/.bashrc: eval "$(vestra completion bash)"
_vestra() {
  local current="\${COMP_WORDS[COMP_CWORD]}" typed='' words='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word == -* ]] || typed="\${typed:+$typed }$word"
  done
  case "$typed" in
${cases(outlines)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _vestra vestra
`;
}

function zsh(outlines: readonly Outline[]): string {
  return `#compdef vestra
# Completion for vestra. Add to ~/.zshrc: eval "$(vestra completion zsh)"
_vestra() {
  local typed='' words_next='' word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    [[ $word == -* ]] || typed="\${typed:+$typed }$word"
  done
  case "$typed" in
${cases(outlines).replaceAll(' words=', ' words_next=')}
  esac
  compadd -- \${=words_next} || _files
}
compdef _vestra vestra
`;
}

/** A second word directly follows the first; a flag can follow anywhere. */
function fish(outlines: readonly Outline[]): string {
  const summaries = new Map(outlines.map(({ name, summary }) => [name, summary]));
  const rows = [...nextWords(outlines)].flatMap(([path, words]) =>
    words.map((word) => {
      const summary = summaries.get(`${path} ${word}`.trim());
      const told = summary ? ` -d ${quoted(summary)}` : '';
      const where = word.startsWith('-') ? '__vestra_in' : '__vestra_at';
      return `complete -c vestra -n "${where} '${path}'" -a ${quoted(word)}${told}`;
    }),
  );
  return `# Completion for vestra. Save as ~/.config/fish/completions/vestra.fish
function __vestra_typed
  string join ' ' (string match -v -- '-*' (commandline -opc)[2..])
end
function __vestra_at
  set -l typed (__vestra_typed)
  test "$typed" = "$argv[1]"
end
function __vestra_in
  set -l typed (__vestra_typed)
  string match -q -- "$argv[1] *" "$typed "
end
${rows.join('\n')}
`;
}

const quoted = (text: string) => `'${text.replaceAll("'", "\\'")}'`;
