/** The script of the API reference: tabs of languages, and forms that send requests with a test key. */
import { sendRequest } from './try.ts';

const languageKey = 'vestra-language';

document.addEventListener('DOMContentLoaded', () => {
  showLanguage(chosenLanguage());
  document.addEventListener('click', ({ target }) => {
    const tab = (target as Element).closest<HTMLElement>('[role="tab"]');
    if (tab) chooseLanguage(tab);
  });
  document.addEventListener('keydown', moveBetweenTabs);
  for (const form of document.querySelectorAll<HTMLFormElement>('.try form')) sendRequest(form);
});

/** All operations show the chosen language, where they have it. */
function showLanguage(language: string | null): void {
  if (!language) return;
  for (const samples of document.querySelectorAll('.samples')) {
    const chosen = samples.querySelector(`[role="tab"][data-language="${CSS.escape(language)}"]`);
    if (!chosen) continue;
    for (const tab of samples.querySelectorAll<HTMLElement>('[role="tab"]')) {
      tab.setAttribute('aria-selected', String(tab === chosen));
      tab.tabIndex = tab === chosen ? 0 : -1;
    }
    for (const panel of samples.querySelectorAll<HTMLElement>('[role="tabpanel"]'))
      panel.hidden = panel.dataset.language !== language;
  }
}

function chooseLanguage(tab: HTMLElement): void {
  const top = tab.getBoundingClientRect().top;
  showLanguage(tab.dataset.language ?? null);
  // Other samples change their height too. The chosen tab stays where the reader sees it.
  scrollBy(0, tab.getBoundingClientRect().top - top);
  try {
    localStorage.setItem(languageKey, tab.dataset.language ?? '');
  } catch {
    // Without storage the choice lasts until the next page.
  }
}

function moveBetweenTabs(event: KeyboardEvent): void {
  const tab = (event.target as Element).closest<HTMLElement>('[role="tab"]');
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!tab || !step) return;
  const tabs = [...(tab.parentElement?.querySelectorAll<HTMLElement>('[role="tab"]') ?? [])];
  const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length];
  if (!next) return;
  event.preventDefault();
  next.focus();
  chooseLanguage(next);
}

function chosenLanguage(): string | null {
  try {
    return localStorage.getItem(languageKey);
  } catch {
    return null;
  }
}
