import { createRoot } from 'react-dom/client';
import { type Address, takeAddress } from './address.ts';
import { type Connection, connect } from './connection.ts';
import { HostContext, isFramed, meetHost } from './embedding/host.ts';
import { applyScheme } from './embedding/look.ts';
import { Notice } from './notice.tsx';
import { SessionPage } from './session-page.tsx';
import { LanguageContext, loadLanguage } from './words/words.ts';

const address = takeAddress();
if (address) applyScheme(address.scheme);
// After the scripts, so that it delays nothing. A page in a frame may get the typeface of its host instead.
if (!isFramed) document.fonts.load('1em "Geist Variable"').catch(() => {});
const wanted = address?.language ? [address.language, ...navigator.languages] : navigator.languages;
const language = await loadLanguage(wanted);
const { tag, direction, words } = language;
document.documentElement.lang = tag;
document.documentElement.dir = direction;
document.title = words.title;

// A file dropped outside a target must not replace the page.
for (const type of ['dragover', 'drop']) window.addEventListener(type, (event) => event.preventDefault());

const root = createRoot(document.getElementById('page') as HTMLElement);
void open();

/** Without a stored token, the page requests a session from its host page. */
async function open(): Promise<void> {
  const connection = address && connect(address);
  const host = connection && meetHost(connection, address.sessionId);
  if (host) connection.setRenewal(host.askSession);
  if (host && address.token === null) {
    root.render(<Notice title={words.opening} />);
    await host.askSession();
  }
  const isComplete = connection?.hasToken() ?? false;
  root.render(
    <LanguageContext value={language}>
      <HostContext value={host}>
        {isComplete ? (
          <SessionPage address={address as Address} connection={connection as Connection} />
        ) : (
          <Notice title={words.incomplete}>{words.incompleteHint}</Notice>
        )}
      </HostContext>
    </LanguageContext>,
  );
}
