import { setTimeout as sleep } from 'node:timers/promises';
import { BrowserGone, type DevtoolsSession, PageFailed } from './devtools.ts';
import { createScreencast, type PersonInput, passInput, type Screencast } from './live-view.ts';
import { type PageArea, type PageFunctions, pageScript } from './page-script.ts';
import { allowNothing, type RequestRefusal, type SiteRules } from './request-guard.ts';

export type Tab = {
  id: string;
  url: () => string;
  /** The HTTP status of the page; null before a page has loaded. */
  status: () => number | null;
  /** Whether the page is still loading, can be used, or has loaded everything. */
  readiness: () => Readiness;
  isOpen: () => boolean;
  setRules: (rules: SiteRules) => void;
  rules: () => SiteRules;
  /** Resolves once the page has loaded or failed; `error` is the browser's reason. */
  navigate: (url: string) => Promise<{ error: string | null }>;
  /** Calls a function of `page-script.ts` inside the page. Rejects if the page navigates away meanwhile. */
  run: <N extends keyof PageFunctions>(
    name: N,
    given: Parameters<PageFunctions[N]>,
    elements?: readonly string[],
  ) => Promise<Awaited<ReturnType<PageFunctions[N]>>>;
  title: () => Promise<string>;
  /** Elements of this role and name, as arguments for `run`. */
  elementsByRole: (role: string, name: string) => Promise<string[]>;
  clickAt: (x: number, y: number) => Promise<void>;
  /** Types at the cursor and replaces the selection. */
  write: (text: string) => Promise<void>;
  press: (key: 'Enter' | 'Delete') => Promise<void>;
  /** A JPEG of at most this width, of the whole window or of one part. */
  picture: (options: { width: number; quality: number; part?: PageArea }) => Promise<Buffer>;
  /** Reports the picture of the page now and whenever it changes, until the returned function is called. */
  onScreen: Screencast;
  /** Input of a person by mouse and keyboard. */
  pass: (input: PersonInput) => Promise<void>;
  /** One page back or forward, if there is one that may be opened. */
  goThroughHistory: (to: 'back' | 'forward', mayOpen: (url: string) => boolean) => Promise<void>;
  /** `phone`: the screen and page of a phone. `desktop_in_phone`: a desktop page in the shape of a phone. */
  takeShape: (shape: 'phone' | 'desktop_in_phone') => Promise<void>;
  bringToFront: () => Promise<void>;
  /** Resolves when the condition holds. It is checked whenever something happens in the tab. */
  until: (isMet: () => boolean, signal: AbortSignal) => Promise<void>;
  onRefused: (listener: (refusal: RequestRefusal) => void) => () => void;
  onDataCall: (listener: (call: DataCall) => void) => () => void;
  /** Closes a page that no longer responds, such as one in an endless loop, and kills its process. */
  endIfHung: () => Promise<void>;
  close: () => Promise<void>;
};

type Readiness = 'loading' | 'usable' | 'loaded';

/** A finished data request of the page. */
export type DataCall = {
  url: string;
  status: number;
  contentType: string;
  /** Null if the browser no longer has it. */
  body: () => Promise<Buffer | null>;
};

/** The side of a tab that its browser uses. */
export type TabInternals = {
  tab: Tab;
  refused: (refusal: RequestRefusal) => void;
  /** Listens to a target of this tab: the page, a frame of another site, or a worker. */
  listenTo: (session: DevtoolsSession) => Promise<void>;
  gone: () => void;
};

const hungMs = 3_000;
const phone = { width: 390, height: 844 };
/** The width at which phones lay out a desktop page. */
const desktopWidth = 980;
/** The user agent of Chrome on Android, which names neither the phone nor a minor version. */
const phoneAgent = (version: string) =>
  `Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0 Mobile Safari/537.36`;

const inPage = `function (name, count, ...given) {
  const page = (globalThis.ofVestra ??= (${String(pageScript)})());
  return page[name](...given.slice(0, count), ...given.slice(count));
}`;

export function createTab(page: DevtoolsSession, targetId: string, closeTarget: () => Promise<void>): TabInternals {
  let rules = allowNothing;
  let url = 'about:blank';
  let status: number | null = null;
  let readiness: Readiness = 'loaded';
  let isOpen = true;
  const changed = new Set<() => void>();
  const refusedTo = new Set<(refusal: RequestRefusal) => void>();
  const calledTo = new Set<(call: DataCall) => void>();
  const change = () => {
    for (const listener of [...changed]) listener();
  };

  function moved(to: string): void {
    url = to;
    const closed = URL.canParse(to) ? rules.blockedPage(new URL(to)) : null;
    // A script changed the address without a request, so the page is already on the screen. Close it.
    if (closed) {
      refused({ kind: 'page', page: closed, isWholePage: true });
      void tab.close();
    }
    change();
  }

  function refused(refusal: RequestRefusal): void {
    for (const listener of [...refusedTo]) listener(refusal);
    change();
  }

  page.on('Page.frameNavigated', ({ frame }) => {
    if (frame.parentId !== undefined) return;
    readiness = 'loading';
    moved(`${frame.url}${frame.urlFragment ?? ''}`);
  });
  page.on('Page.navigatedWithinDocument', (event) => event.frameId === targetId && moved(event.url));
  page.on('Page.frameStartedLoading', ({ frameId }) => {
    if (frameId !== targetId) return;
    readiness = 'loading';
    change();
  });
  page.on('Page.frameStoppedLoading', ({ frameId }) => {
    if (frameId !== targetId) return;
    readiness = 'loaded';
    change();
  });
  page.on('Page.domContentEventFired', () => {
    if (readiness === 'loading') readiness = 'usable';
    change();
  });
  page.on('Page.loadEventFired', () => {
    readiness = 'loaded';
    change();
  });
  // A dialog would block the page until someone answers.
  page.on('Page.javascriptDialogOpening', ({ type }) => {
    const accept = type === 'alert' || type === 'beforeunload';
    page.send('Page.handleJavaScriptDialog', { accept }).catch(() => {});
  });
  // Loads the page in this tab instead: a new window would be a tab that no one sees.
  page.on('Page.windowOpen', ({ url: wanted, userGesture }) => {
    if (userGesture && /^https?:/.test(wanted)) page.send('Page.navigate', { url: wanted }).catch(() => {});
  });

  async function listenTo(session: DevtoolsSession): Promise<void> {
    const answers = new Map<string, { url: string; status: number; contentType: string }>();
    session.on('Network.responseReceived', ({ requestId, type, response, frameId }) => {
      if (type === 'Document' && frameId === targetId) status = response.status;
      if (type !== 'XHR' && type !== 'Fetch') return;
      const contentType = response.headers['content-type'] ?? response.headers['Content-Type'] ?? response.mimeType;
      answers.set(requestId, { url: response.url, status: response.status, contentType });
    });
    session.on('Network.loadingFailed', ({ requestId }) => answers.delete(requestId));
    session.on('Network.loadingFinished', ({ requestId }) => {
      const answer = answers.get(requestId);
      answers.delete(requestId);
      if (!answer) return;
      const body = async () => {
        const read = await session.send('Network.getResponseBody', { requestId }).catch(() => null);
        return read && Buffer.from(read.body, read.base64Encoded ? 'base64' : 'utf8');
      };
      for (const listener of [...calledTo]) listener({ ...answer, body });
    });
    await session.send('Network.enable', { maxTotalBufferSize: 64 * 1024 ** 2, maxResourceBufferSize: 16 * 1024 ** 2 });
  }

  const world = async () => {
    const { executionContextId } = await page.send('Page.createIsolatedWorld', {
      frameId: targetId,
      worldName: 'vestra',
    });
    return executionContextId;
  };

  const tab: Tab = {
    id: targetId,
    url: () => url,
    status: () => status,
    readiness: () => readiness,
    isOpen: () => isOpen,
    rules: () => rules,
    setRules(next) {
      rules = next;
    },
    async navigate(to) {
      readiness = 'loading';
      const { errorText } = await page.send('Page.navigate', { url: to });
      if (errorText === undefined) return { error: null };
      // A browser that is killed may report its page as failed before it is gone. One that lives answers, if only to refuse.
      await page.send('Page.getNavigationHistory').catch((problem: unknown) => {
        if (!(problem instanceof PageFailed)) throw problem;
      });
      readiness = 'loaded';
      change();
      return { error: errorText };
    },
    async run(name, given, elements = []) {
      const { result, exceptionDetails } = await page.send('Runtime.callFunctionOn', {
        functionDeclaration: inPage,
        executionContextId: await world(),
        arguments: [
          { value: name },
          { value: given.length },
          ...given.map((value: unknown) => ({ value })),
          ...elements.map((objectId) => ({ objectId })),
        ],
        returnByValue: true,
        awaitPromise: true,
      });
      if (exceptionDetails) throw new PageFailed(exceptionDetails.exception?.description ?? exceptionDetails.text);
      return result.value;
    },
    async title() {
      const { result } = await page.send('Runtime.evaluate', {
        expression: 'document.title',
        contextId: await world(),
        returnByValue: true,
      });
      return String(result.value ?? '').slice(0, 1000);
    },
    async elementsByRole(role, name) {
      const executionContextId = await world();
      const { result } = await page.send('Runtime.evaluate', { expression: 'document', contextId: executionContextId });
      const { nodes } = await page.send('Accessibility.queryAXTree', { objectId: result.objectId as string, role });
      const plain = (text: unknown) =>
        String(text ?? '')
          .replace(/\s+/gu, ' ')
          .trim()
          .toLowerCase();
      const known = nodes.filter((node) => !node.ignored && node.backendDOMNodeId !== undefined);
      const exact = known.filter((node) => plain(node.name?.value) === plain(name));
      const fitting = exact.length > 0 ? exact : known.filter((node) => plain(node.name?.value).includes(plain(name)));
      return Promise.all(
        fitting.slice(0, 100).map(async ({ backendDOMNodeId }) => {
          const { object } = await page.send('DOM.resolveNode', {
            backendNodeId: backendDOMNodeId,
            executionContextId,
          });
          return object.objectId as string;
        }),
      );
    },
    async clickAt(x, y) {
      const at = { x, y, button: 'left', clickCount: 1 } as const;
      await page.send('Input.dispatchMouseEvent', { type: 'mouseMoved', x, y });
      await page.send('Input.dispatchMouseEvent', { type: 'mousePressed', ...at });
      await page.send('Input.dispatchMouseEvent', { type: 'mouseReleased', ...at });
    },
    async write(text) {
      if (text === '') return tab.press('Delete');
      await page.send('Input.insertText', { text });
    },
    async press(key) {
      const { code, text } = keys[key];
      const event = { key, code: key, windowsVirtualKeyCode: code, nativeVirtualKeyCode: code };
      await page.send('Input.dispatchKeyEvent', {
        type: text ? 'keyDown' : 'rawKeyDown',
        ...event,
        ...(text && { text }),
      });
      await page.send('Input.dispatchKeyEvent', { type: 'keyUp', ...event });
    },
    onScreen: createScreencast(page),
    pass: (input) => passInput(page, input),
    async goThroughHistory(to, mayOpen) {
      const { currentIndex, entries } = await page.send('Page.getNavigationHistory');
      const entry = entries[currentIndex + (to === 'back' ? -1 : 1)];
      if (entry && mayOpen(entry.url)) await page.send('Page.navigateToHistoryEntry', { entryId: entry.id });
    },
    async picture({ width, quality, part }) {
      const { cssVisualViewport: view } = await page.send('Page.getLayoutMetrics');
      const wanted = part ?? { x: 0, y: 0, width: view.clientWidth, height: view.clientHeight };
      const { data } = await page.send('Page.captureScreenshot', {
        format: 'jpeg',
        quality,
        clip: {
          x: view.pageX + wanted.x,
          y: view.pageY + wanted.y,
          width: wanted.width,
          height: wanted.height,
          scale: Math.min(1, width / wanted.width),
        },
      });
      return Buffer.from(data, 'base64');
    },
    async takeShape(shape) {
      const size =
        shape === 'phone'
          ? phone
          : { width: desktopWidth, height: Math.round((desktopWidth * phone.height) / phone.width) };
      const isPhone = shape === 'phone';
      await page.send('Emulation.setDeviceMetricsOverride', { ...size, deviceScaleFactor: 1, mobile: isPhone });
      if (!isPhone) return;
      const { product } = await page.send('Browser.getVersion');
      const version = /\/(\d+)/.exec(product)?.[1] ?? '';
      await page.send('Emulation.setUserAgentOverride', { userAgent: phoneAgent(version) });
      await page.send('Emulation.setTouchEmulationEnabled', { enabled: true });
    },
    async bringToFront() {
      await page.send('Page.bringToFront');
    },
    until(isMet, signal) {
      return new Promise<void>((resolve, reject) => {
        const end = (finish: () => void) => {
          changed.delete(look);
          signal.removeEventListener('abort', stop);
          finish();
        };
        const stop = () => end(() => reject(signal.reason));
        const look = () => {
          if (isMet()) return end(resolve);
          if (!isOpen) end(() => reject(new BrowserGone('The page was closed.')));
        };
        changed.add(look);
        signal.addEventListener('abort', stop, { once: true });
        if (signal.aborted) stop();
        else look();
      });
    },
    onRefused(listener) {
      refusedTo.add(listener);
      return () => void refusedTo.delete(listener);
    },
    onDataCall(listener) {
      calledTo.add(listener);
      return () => void calledTo.delete(listener);
    },
    async endIfHung() {
      const answers = page.send('Runtime.evaluate', { expression: '0' }).then(
        () => true,
        // A closed or navigating page is not hanging.
        () => true,
      );
      const late = sleep(hungMs, false, { ref: false });
      if (!isOpen || (await Promise.race([answers, late]))) return;
      // Closing a hung page waits for the page itself, which never ends. `Page.crash` gets no response.
      void page.send('Page.crash').catch(() => {});
      await tab.close();
    },
    async close() {
      if (!isOpen) return;
      isOpen = false;
      change();
      await closeTarget().catch(() => {});
    },
  };
  return {
    tab,
    refused,
    listenTo,
    gone() {
      isOpen = false;
      change();
    },
  };
}

const keys = { Enter: { code: 13, text: '\r' }, Delete: { code: 46, text: '' } };
