/** The reader's choice of this browser; absent: as the system has it. */
const kept = 'vestra-scheme';

export function chosenScheme(): void {
  const scheme = read();
  if (scheme) document.documentElement.dataset.scheme = scheme;
}

export function followSchemeButton(): void {
  const button = document.querySelector<HTMLButtonElement>('.scheme');
  if (!button) return;
  button.hidden = false;
  button.addEventListener('click', () => {
    const isDark = getComputedStyle(document.documentElement).colorScheme === 'dark' || (!read() && systemIsDark());
    const scheme = isDark ? 'light' : 'dark';
    document.documentElement.dataset.scheme = scheme;
    try {
      localStorage.setItem(kept, scheme);
    } catch {
      // A browser that keeps nothing shows the choice until the next page.
    }
  });
}

const systemIsDark = () => matchMedia('(prefers-color-scheme: dark)').matches;

function read(): 'light' | 'dark' | null {
  try {
    const scheme = localStorage.getItem(kept);
    return scheme === 'light' || scheme === 'dark' ? scheme : null;
  } catch {
    return null;
  }
}
