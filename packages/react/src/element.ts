import {
  asMessage,
  type EndReason,
  type HostMessage,
  type LookFont,
  type PageMessage,
  type RefusalReason,
  readPageMessage,
} from './bridge.ts';
import { elementStyle } from './element-style.ts';
import { type Font, loadFonts, readLook, schemeOf, watchLook } from './read-look.ts';
import { type GetSession, keepSession, type OpenSession, type SessionKeeper } from './session-keeper.ts';

export type { EndReason, RefusalReason, Scheme } from './bridge.ts';
export type { Font } from './read-look.ts';
export type { GetSession, GivenSession } from './session-keeper.ts';

/** The events of the element, with their `detail`. */
export type VestraSessionEvents = {
  ready: { sessionId: string; conversationId: string | null };
  ended: { reason: EndReason };
  /** The agent asks the user to take over. */
  handoff: { interactionId: string };
  /** The height that shows everything without scrolling. */
  resize: { height: number };
  unread: { count: number };
  /** No session could be created, or the page rejected it. */
  error: { error: unknown } | { refused: RefusalReason };
};

/** `<vestra-session>` embeds the session page in your page. */
export interface VestraSessionElement extends HTMLElement {
  /** Requests a session from your server, now and before each expiry. Replaces the attribute `session-url`. */
  getSession: GetSession | null;
  fonts: readonly Font[];
  /** Opens the launcher's window. */
  show: () => void;
  hide: () => void;
  /** Starts again with a new session, such as for another user. */
  restart: () => void;
  addEventListener<Type extends keyof VestraSessionEvents>(
    type: Type,
    listener: (event: CustomEvent<VestraSessionEvents[Type]>) => void,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: boolean | AddEventListenerOptions,
  ): void;
}

declare global {
  interface HTMLElementTagNameMap {
    'vestra-session': VestraSessionElement;
  }
}

/** Defines `<vestra-session>` once. It does nothing on a server. */
export function defineVestraSession(): void {
  if (typeof customElements === 'undefined' || customElements.get('vestra-session')) return;
  customElements.define('vestra-session', createElementClass());
}

/** The class is created on demand, because `HTMLElement` is missing on a server. */
function createElementClass(): CustomElementConstructor {
  return class extends HTMLElement {
    static observedAttributes = ['session-url', 'layout', 'open', 'heading', 'logo', 'language', 'scheme'];

    #getSession: GetSession | null = null;
    #fonts: readonly Font[] = [];
    #loadedFonts: readonly LookFont[] = [];
    #conversationId: string | null = null;
    #keeper: SessionKeeper | null = null;
    #frame: Frame | null = null;
    #unwatch: (() => void) | null = null;
    #parts = createParts(this.attachShadow({ mode: 'open' }));

    get getSession() {
      return this.#getSession;
    }
    set getSession(getSession: GetSession | null) {
      this.#getSession = getSession;
      this.#startIfWanted();
    }

    get fonts() {
      return this.#fonts;
    }
    set fonts(fonts: readonly Font[]) {
      this.#fonts = fonts;
      void loadFonts(fonts).then((loaded) => {
        if (this.#fonts !== fonts) return;
        this.#loadedFonts = loaded;
        this.#tellLook();
      });
    }

    connectedCallback() {
      takeEarlyProperties(this, ['getSession', 'fonts']);
      this.#parts.bubble.onclick = () => (this.hasAttribute('open') ? this.hide() : this.show());
      this.#parts.close.onclick = () => this.hide();
      this.#unwatch = watchLook(() => {
        this.#draw();
        this.#tellLook();
      });
      if (this.#isLauncher && wasLeftOpen(this)) this.setAttribute('open', '');
      this.#draw();
      this.#startIfWanted();
    }

    disconnectedCallback() {
      this.#stop();
      this.#unwatch?.();
    }

    attributeChangedCallback(name: string) {
      if (!this.isConnected) return;
      this.#draw();
      if (name === 'open') keepOpen(this, this.hasAttribute('open'));
      if (name === 'open' || name === 'layout') this.#frame?.tell({ type: 'host.shown', shown: this.#isShown });
      if (name === 'scheme') this.#tellLook();
      this.#startIfWanted();
    }

    show() {
      this.setAttribute('open', '');
      this.#parts.iframe.focus();
    }

    hide() {
      this.removeAttribute('open');
      if (this.#isLauncher) this.#parts.bubble.focus();
    }

    restart() {
      this.#stop();
      this.#startIfWanted();
    }

    get #isLauncher() {
      return this.getAttribute('layout') === 'launcher';
    }

    get #isShown() {
      return !this.#isLauncher || this.hasAttribute('open');
    }

    #startIfWanted() {
      const isAsked = this.#getSession !== null || this.hasAttribute('session-url');
      // A launcher that is never opened creates no session.
      if (this.#keeper || !this.isConnected || !isAsked || !this.#isShown) return;
      this.#frame = openFrame(this.#parts.iframe, (said) => this.#hear(said));
      this.#keeper = keepSession({
        ask: () => this.#ask(),
        taken: (session) => this.#take(session),
        failed: (error) => {
          this.#frame?.tell({ type: 'host.no_session' });
          this.#emit('error', { error });
        },
      });
    }

    #stop() {
      this.#keeper?.stop();
      this.#frame?.close();
      this.#keeper = null;
      this.#frame = null;
      this.#conversationId = null;
      this.#parts.iframe.removeAttribute('src');
      this.#showUnread(0);
    }

    #ask() {
      const wanted = { conversationId: this.#conversationId };
      const url = this.getAttribute('session-url');
      return this.#getSession ? this.#getSession(wanted) : askServer(url ?? '', wanted);
    }

    #take(session: OpenSession) {
      const frame = this.#frame;
      if (frame?.origin() === session.origin) {
        frame.tell({ type: 'host.session', session_id: session.sessionId, token: session.token });
      } else {
        frame?.load(session, { language: this.getAttribute('language'), scheme: schemeOf(this) });
      }
    }

    #hear(said: PageMessage) {
      switch (said.type) {
        case 'session.opened':
          this.#tellLook();
          return this.#frame?.tell({ type: 'host.shown', shown: this.#isShown });
        case 'session.wanted':
          return void this.#keeper?.renew();
        case 'session.ready':
          this.#conversationId = said.conversation_id;
          return this.#emit('ready', { sessionId: said.session_id, conversationId: said.conversation_id });
        case 'session.ended':
          // An expired session continues with the next one.
          if (said.reason !== 'expired') this.#keeper?.stop();
          return this.#emit('ended', { reason: said.reason });
        case 'session.refused':
          return this.#emit('error', { refused: said.reason });
        case 'session.handoff':
          return this.#emit('handoff', { interactionId: said.interaction_id });
        case 'session.unread':
          this.#showUnread(said.count);
          return this.#emit('unread', { count: said.count });
        case 'session.resize':
          if (this.hasAttribute('autosize') && !this.#isLauncher) this.style.blockSize = `${said.height}px`;
          return this.#emit('resize', { height: said.height });
      }
    }

    #emit<Type extends keyof VestraSessionEvents>(type: Type, detail: VestraSessionEvents[Type]) {
      this.dispatchEvent(new CustomEvent(type, { detail }));
    }

    #tellLook() {
      this.#frame?.tell({ type: 'host.look', look: readLook(this, this.#loadedFonts) });
    }

    #showUnread(count: number) {
      this.#parts.unread.textContent = count === 0 ? '' : count > 99 ? '99+' : String(count);
    }

    #draw() {
      const { panel, header, heading, bubble, close, iframe, logos } = this.#parts;
      const language = this.getAttribute('language');
      const words = elementWords([...(language ? [language] : []), ...navigator.languages]);
      const title = this.getAttribute('heading') ?? '';
      const logo = this.getAttribute('logo');
      const isOpen = this.hasAttribute('open');
      heading.textContent = title;
      iframe.title = title || words.chat;
      const scheme = schemeOf(this);
      panel.style.setProperty('--scheme', scheme === 'auto' ? 'light dark' : scheme);
      if (this.#isLauncher) panel.setAttribute('role', 'dialog');
      else panel.removeAttribute('role');
      panel.setAttribute('aria-label', title || words.chat);
      header.classList.toggle('used', title !== '' || logo !== null || this.#isLauncher);
      close.setAttribute('aria-label', words.close);
      bubble.setAttribute('aria-label', isOpen ? words.close : words.open);
      bubble.setAttribute('aria-expanded', String(isOpen));
      for (const image of logos) {
        image.hidden = logo === null;
        if (logo !== null && image.getAttribute('src') !== logo) image.src = logo;
      }
      bubble.querySelector('svg')?.toggleAttribute('hidden', logo !== null);
    }
  };
}

/** Sends cookies, so that your server can identify the user. */
async function askServer(url: string, { conversationId }: { conversationId: string | null }) {
  const response = await fetch(new URL(url, document.baseURI), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ conversation_id: conversationId }),
    credentials: 'same-origin',
  });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: no session was opened.`);
  return response.json();
}

const markup = `
  <div class="panel" part="panel" id="panel">
    <header part="header">
      <img alt="" part="logo" hidden><span class="heading" part="heading"></span>
      <button class="close" part="close" type="button"><svg viewBox="0 0 24 24" aria-hidden="true"><path d="M6 6l12 12M18 6L6 18"/></svg></button>
    </header>
    <iframe part="frame" allow="clipboard-write; microphone; autoplay"></iframe>
  </div>
  <button class="bubble" part="launcher" type="button" aria-controls="panel">
    <img alt="" hidden>
    <svg viewBox="0 0 24 24" aria-hidden="true"><path d="M21 11.5a8.4 8.4 0 0 1-8.5 8.4c-1.4 0-2.8-.3-4-1L3 20.5l1.6-5.2a8.2 8.2 0 0 1-1.1-3.8A8.4 8.4 0 0 1 12 3.1a8.6 8.6 0 0 1 9 8.4z"/></svg>
    <span class="unread" part="unread" role="status"></span>
  </button>`;

function createParts(root: ShadowRoot) {
  const style = new CSSStyleSheet();
  style.replaceSync(elementStyle);
  // A style element could violate the content security policy of the page.
  root.adoptedStyleSheets = [style];
  root.innerHTML = markup;
  const find = <Part extends Element>(selector: string) => root.querySelector(selector) as Part;
  return {
    panel: find<HTMLElement>('.panel'),
    header: find<HTMLElement>('header'),
    heading: find<HTMLElement>('.heading'),
    close: find<HTMLButtonElement>('.close'),
    iframe: find<HTMLIFrameElement>('iframe'),
    bubble: find<HTMLButtonElement>('.bubble'),
    unread: find<HTMLElement>('.unread'),
    logos: [...root.querySelectorAll('img')],
  };
}

/** Properties set before the definition shadow the accessors of the class, so they are set again. */
function takeEarlyProperties(element: HTMLElement, names: readonly string[]): void {
  const fields = element as unknown as Record<string, unknown>;
  for (const name of names) {
    if (!Object.hasOwn(fields, name)) continue;
    const value = fields[name];
    delete fields[name];
    fields[name] = value;
  }
}

const openKeyOf = ({ id }: Element) => `vestra-session ${id} open`;

/** A launcher stays open across reloads. */
function wasLeftOpen(element: Element): boolean {
  try {
    return sessionStorage.getItem(openKeyOf(element)) !== null;
  } catch {
    return false;
  }
}

function keepOpen(element: Element, isOpen: boolean): void {
  try {
    if (isOpen) sessionStorage.setItem(openKeyOf(element), '1');
    else sessionStorage.removeItem(openKeyOf(element));
  } catch {
    // Without storage the launcher starts closed.
  }
}

type ElementWords = { chat: string; open: string; close: string };

const tables: Readonly<Record<string, ElementWords>> = {
  en: { chat: 'Chat', open: 'Open chat', close: 'Close chat' },
  de: { chat: 'Chat', open: 'Chat öffnen', close: 'Chat schließen' },
  es: { chat: 'Chat', open: 'Abrir el chat', close: 'Cerrar el chat' },
  fr: { chat: 'Chat', open: 'Ouvrir le chat', close: 'Fermer le chat' },
  pt: { chat: 'Chat', open: 'Abrir o chat', close: 'Fechar o chat' },
  hi: { chat: 'चैट', open: 'चैट खोलें', close: 'चैट बंद करें' },
  ja: { chat: 'チャット', open: 'チャットを開く', close: 'チャットを閉じる' },
  ar: { chat: 'محادثة', open: 'افتح المحادثة', close: 'أغلق المحادثة' },
};

/** The first supported language, or English. */
function elementWords(languages: readonly string[]): ElementWords {
  const tags = languages.map((each) => each.toLowerCase().split('-', 1)[0] ?? '');
  const tag = tags.find((each) => Object.hasOwn(tables, each)) ?? 'en';
  return tables[tag] as ElementWords;
}

/** The iframe of the session page and its message channel. */
type Frame = {
  /** Loads the page with its first session. `look` applies before the first paint. */
  load: (session: OpenSession, look: { language: string | null; scheme: string }) => void;
  tell: (said: HostMessage) => void;
  /** The origin of the loaded page. */
  origin: () => string | null;
  close: () => void;
};

/** Exchanges messages only with this frame and the origin that it was loaded from. */
function openFrame(element: HTMLIFrameElement, heard: (said: PageMessage) => void): Frame {
  let origin: string | null = null;
  const listen = ({ source, origin: from, data }: MessageEvent) => {
    if (origin === null || from !== origin || source !== element.contentWindow) return;
    const said = readPageMessage(data);
    if (said) heard(said);
  };
  window.addEventListener('message', listen);
  return {
    load(session, { language, scheme }) {
      origin = session.origin;
      const also = new URLSearchParams({ scheme, ...(language && { language }) });
      element.src = `${session.url}&${also}`;
    },
    tell(said) {
      if (origin !== null) element.contentWindow?.postMessage(asMessage(said), origin);
    },
    origin: () => origin,
    close() {
      window.removeEventListener('message', listen);
      origin = null;
    },
  };
}
