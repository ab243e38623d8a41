/** A button on each block of code. Of a shell's block only what is typed is copied, not what is shown. */
export function offerCopies(): void {
  if (!navigator.clipboard) return;
  for (const figure of document.querySelectorAll('figure.code')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      const isCopied = await navigator.clipboard.writeText(typedIn(figure)).then(
        () => true,
        () => false,
      );
      button.textContent = isCopied ? 'Copied' : 'Not copied';
      setTimeout(() => {
        button.textContent = 'Copy';
      }, 1600);
    });
    figure.append(button);
  }
}

function typedIn(figure: Element): string {
  const text = figure.querySelector('pre')?.textContent ?? '';
  const typed = text.split('\n').filter((line) => line.startsWith('$ '));
  return typed.length === 0 ? text : typed.map((line) => line.slice(2)).join('\n');
}
