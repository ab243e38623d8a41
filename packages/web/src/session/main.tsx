import { createRoot } from 'react-dom/client';
import { takeAddress } from './address.ts';
import { connect } from './connection.ts';
import { Notice } from './notice.tsx';
import { SessionPage } from './session-page.tsx';
import { LanguageContext, loadLanguage } from './words/words.ts';

const address = takeAddress();
const language = await loadLanguage(navigator.languages);
const { tag, direction, words } = language;
document.documentElement.lang = tag;
document.documentElement.dir = direction;
document.title = words.title;

// A file that misses its target must not replace the page with itself.
for (const type of ['dragover', 'drop']) window.addEventListener(type, (event) => event.preventDefault());

createRoot(document.getElementById('page') as HTMLElement).render(
  <LanguageContext value={language}>
    {address ? (
      <SessionPage address={address} connection={connect(address)} />
    ) : (
      <Notice title={words.incomplete}>{words.incompleteHint}</Notice>
    )}
  </LanguageContext>,
);
