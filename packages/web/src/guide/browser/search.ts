import { type FoundSection, find, type Section } from './find.ts';

/** The search dialog: `/` or Ctrl+K opens it. The index is loaded on first use. */
export function openSearch(): void {
  const dialog = document.querySelector<HTMLDialogElement>('dialog.search');
  const button = document.querySelector<HTMLButtonElement>('.search-open');
  const input = dialog?.querySelector('input');
  const list = dialog?.querySelector<HTMLElement>('#found');
  const state = dialog?.querySelector('.search-state');
  if (!dialog || !button || !input || !list || !state) return;
  let sections: Promise<Section[]> | undefined;
  let chosen = 0;

  button.hidden = false;
  button.addEventListener('click', show);
  input.addEventListener('input', () => void look());
  dialog.addEventListener('click', (event) => event.target === dialog && dialog.close());
  // A link to another heading of the same page does not close the dialog by itself.
  list.addEventListener('click', () => dialog.close());
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof Element && event.target.matches('input, textarea, [contenteditable]');
    const isAsked = (event.key === 'k' && (event.ctrlKey || event.metaKey)) || (event.key === '/' && !isTyping);
    if (!isAsked || dialog.open) return;
    event.preventDefault();
    show();
  });
  input.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      choose(chosen + (event.key === 'ArrowDown' ? 1 : -1));
    }
    if (event.key === 'Enter') list.querySelector<HTMLAnchorElement>('[aria-selected=true]')?.click();
  });

  function show(): void {
    dialog?.showModal();
    input?.select();
    sections ??= fetch('/docs/guide/search.json').then((answer) => answer.json());
    void look();
  }

  async function look(): Promise<void> {
    if (!input || !list || !state) return;
    const asked = input.value;
    try {
      const found = find(await (sections ?? Promise.resolve([])), asked);
      if (asked !== input.value) return;
      list.replaceChildren(...found.map(option));
      state.textContent = asked.trim() === '' || found.length > 0 ? '' : `No results for “${asked.trim()}”.`;
      input.setAttribute('aria-expanded', String(found.length > 0));
      choose(0);
    } catch {
      sections = undefined;
      state.textContent = 'Search could not be loaded. Type again to retry.';
    }
  }

  function choose(place: number): void {
    const options = [...(list?.children ?? [])];
    chosen = options.length === 0 ? 0 : (place + options.length) % options.length;
    for (const [index, each] of options.entries()) each.setAttribute('aria-selected', String(index === chosen));
    options[chosen]?.scrollIntoView({ block: 'nearest' });
    input?.setAttribute('aria-activedescendant', options[chosen]?.id ?? '');
  }
}

function option({ section: [page, address, heading], excerpt }: FoundSection, index: number): HTMLAnchorElement {
  const link = document.createElement('a');
  link.id = `found-${index}`;
  link.role = 'option';
  link.href = address;
  link.tabIndex = -1;
  const title = document.createElement('strong');
  title.textContent = heading === page ? page : `${page} › ${heading}`;
  const words = document.createElement('span');
  words.append(
    ...excerpt.map(({ text, isMatch }) => {
      if (!isMatch) return text;
      const mark = document.createElement('mark');
      mark.textContent = text;
      return mark;
    }),
  );
  link.append(title, words);
  return link;
}
