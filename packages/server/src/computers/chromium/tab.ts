import { setTimeout as sleep } from 'node:timers/promises';
import { BrowserGone, type DevtoolsSession, PageFailed } from './devtools.ts';
import { createScreencast, type PersonInput, passInput, type Screencast } from './live-view.ts';
import { type PageFunctions, type Part, pageScript } from './page-script.ts';
import { nothingAtAll, type Refusal, type Rules } from './request-guard.ts';

/** A tab of the browser. */
export type Tab = {
  id: string;
  url: () => string;
  /** Of the page itself; null before there is one. */
  status: () => number | null;
  /** How far the page is: it has begun, can be used, has loaded everything. */
  readiness: () => Readiness;
  isOpen: () => boolean;
  setRules: (rules: Rules) => void;
  rules: () => Rules;
  /** Resolves once the page has come or failed to; `error` is the browser's word for why. */
  navigate: (url: string) => Promise<{ error: string | null }>;
  /** Calls what `page-script.ts` offers, inside the page. Rejects where the page goes away meanwhile. */
  run: <N extends keyof PageFunctions>(
    name: N,
    given: Parameters<PageFunctions[N]>,
    elements?: readonly string[],
  ) => Promise<Awaited<ReturnType<PageFunctions[N]>>>;
  title: () => Promise<string>;
  /** Elements of this role and name, to be given to `run`. */
  elementsByRole: (role: string, name: string) => Promise<string[]>;
  clickAt: (x: number, y: number) => Promise<void>;
  /** Writes where the cursor stands, in place of what is selected. */
  write: (text: string) => Promise<void>;
  press: (key: 'Enter' | 'Delete') => Promise<void>;
  /** As a JPEG of at most this width; `part`: of the window alone that part. */
  picture: (options: { width: number; quality: number; part?: Part }) => Promise<Buffer>;
  /** Tells what the page looks like now and whenever that changes, until it is told to stop. */
  onScreen: Screencast;
  /** What a person does with mouse and keyboard. */
  pass: (input: PersonInput) => Promise<void>;
  /** One page back or forward, where there is one that may be opened. */
  goThroughHistory: (to: 'back' | 'forward', mayOpen: (url: string) => boolean) => Promise<void>;
  /** `phone`: a phone's screen and a phone's page. `desktop_in_phone`: the page of a desktop in a phone's shape. */
  takeShape: (shape: 'phone' | 'desktop_in_phone') => Promise<void>;
  bringToFront: () => Promise<void>;
  /** Resolves when the condition holds. It is looked at whenever something happens in the tab. */
  until: (isMet: () => boolean, signal: AbortSignal) => Promise<void>;
  onRefused: (listener: (refusal: Refusal) => void) => () => void;
  onDataCall: (listener: (call: DataCall) => void) => () => void;
  /** A page that answers nothing any more, such as one in an endless loop, is closed, and its process ends. */
  endIfHung: () => Promise<void>;
  close: () => Promise<void>;
};

type Readiness = 'loading' | 'usable' | 'loaded';

/** A call that the page made for data, answered to its end. */
export type DataCall = {
  url: string;
  status: number;
  contentType: string;
  /** Null where the browser no longer has it. */
  body: () => Promise<Buffer | null>;
};

/** What the browser tells a tab of its targets, beside the tab that callers use. */
export type TabEnds = {
  tab: Tab;
  refused: (refusal: Refusal) => void;
  /** Takes the calls of a target of this tab: the page, a frame of another site, a worker. */
  listenTo: (session: DevtoolsSession) => Promise<void>;
  gone: () => void;
};

const hungMs = 3_000;
const phone = { width: 390, height: 844 };
/** As wide as phones lay out a page that they ask for as a desktop. */
const desktopWidth = 980;
/** As Chrome on Android calls itself, which names neither the phone nor more than the first number of its version. */
const phoneAgent = (version: string) =>
  `Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0 Mobile Safari/537.36`;

const inPage = `function (name, count, ...given) {
  const page = (globalThis.ofVestra ??= (${String(pageScript)})());
  return page[name](...given.slice(0, count), ...given.slice(count));
}`;

export function createTab(page: DevtoolsSession, targetId: string, closeTarget: () => Promise<void>): TabEnds {
  let rules = nothingAtAll;
  let url = 'about:blank';
  let status: number | null = null;
  let readiness: Readiness = 'loaded';
  let isOpen = true;
  const changed = new Set<() => void>();
  const refusedTo = new Set<(refusal: Refusal) => void>();
  const calledTo = new Set<(call: DataCall) => void>();
  const change = () => {
    for (const listener of [...changed]) listener();
  };

  function moved(to: string): void {
    url = to;
    const closed = URL.canParse(to) ? rules.closedPage(new URL(to)) : null;
    // It is on the screen already, by a script that no request announced: nobody is to look at it.
    if (closed) {
      refused({ kind: 'page', page: closed, isWholePage: true });
      void tab.close();
    }
    change();
  }

  function refused(refusal: Refusal): void {
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
  // A dialog holds the page up until somebody answers: nobody is there to.
  page.on('Page.javascriptDialogOpening', ({ type }) => {
    const accept = type === 'alert' || type === 'beforeunload';
    page.send('Page.handleJavaScriptDialog', { accept }).catch(() => {});
  });
  // A new window would be a tab that nobody asked for: its page is opened where the person looks.
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
        // Gone or between two pages: either way not hanging.
        () => true,
      );
      const late = sleep(hungMs, false, { ref: false });
      if (!isOpen || (await Promise.race([answers, late]))) return;
      // Closing alone would let the page end by itself, which it never does. It crashes without an answer.
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
