export type ElementQuery = {
  text?: string | undefined;
  selector?: string | undefined;
  /** The number that the last `read` gave the element. */
  number?: number | undefined;
  nth?: number | undefined;
  near_text?: string | undefined;
};

/** The point to click, or why there is none. */
type ClickTarget = { found: true; x: number; y: number } | { found: false; why: string };

/** A part of the window, in CSS pixels. */
export type PageArea = { x: number; y: number; width: number; height: number };

export type CroppedElement = { role?: string | undefined; name?: string | undefined; text?: string | undefined };

type FieldResult = { found: true; isDone: boolean } | { found: false; why: string };

/**
 * Runs inside a page, in an isolated world that the page's scripts cannot see or change. Its source is sent to the
 * browser, so it must not use anything from outside.
 */
export function pageScript() {
  let numbered: Element[] = [];
  const unread = ['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'HEAD'];
  const squash = (text: string) => text.replace(/\s+/gu, ' ').trim();
  const plain = (text: string | null | undefined) => squash(text ?? '').toLowerCase();
  // biome-ignore lint/performance/useDomNodeTextContent: what is hidden must not count.
  const rendered = (element: Element | null) => (element as HTMLElement | null)?.innerText ?? '';
  const childrenOf = (element: Element) => [...element.children, ...(element.shadowRoot?.children ?? [])];
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  function isVisible(element: Element): boolean {
    if (!element.isConnected || !element.checkVisibility({ visibilityProperty: true })) return false;
    const { width, height } = element.getBoundingClientRect();
    return width > 0 && height > 0;
  }

  const isButtonInput = (element: Element): element is HTMLInputElement =>
    element instanceof HTMLInputElement && ['submit', 'button', 'reset'].includes(element.type);

  const writtenText = (element: Element) => plain(isButtonInput(element) ? element.value : element.textContent);
  const shownText = (element: Element) => plain(isButtonInput(element) ? element.value : rendered(element));

  /** The smallest elements that show the text. Elements that show nothing else win. */
  function showing(text: string): Element[] {
    const needle = plain(text);
    const found: { element: Element; isWhole: boolean }[] = [];
    const visit = (element: Element): boolean => {
      if (unread.includes(element.tagName)) return false;
      let isBelow = false;
      for (const child of childrenOf(element)) isBelow = visit(child) || isBelow;
      if (isBelow) return true;
      if (!writtenText(element).includes(needle) || !isVisible(element)) return false;
      const shown = shownText(element);
      if (!shown.includes(needle)) return false;
      found.push({ element, isWhole: shown === needle });
      return true;
    };
    if (document.body) visit(document.body);
    const whole = found.filter(({ isWhole }) => isWhole);
    return (whole.length > 0 ? whole : found).map(({ element }) => element);
  }

  /** The distance between the edges. The distance between the centres decides ties. */
  function distance(one: DOMRect, other: DOMRect): number {
    const apart = (start: number, end: number, from: number, to: number) => Math.max(0, from - end, start - to);
    const across = apart(one.left, one.right, other.left, other.right);
    const along = apart(one.top, one.bottom, other.top, other.bottom);
    const middle = ({ left, top, width, height }: DOMRect) => [left + width / 2, top + height / 2] as const;
    const [[x, y], [u, v]] = [middle(one), middle(other)];
    return Math.hypot(across, along) + Math.hypot(x - u, y - v) / 10;
  }

  /** The boxes of the text itself: the element around it may be as wide as the page. */
  function placesOfText(element: Element, needle: string): DOMRect[] {
    const found: DOMRect[] = [];
    const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (let node = texts.nextNode(); node; node = texts.nextNode()) {
      if (!plain(node.textContent).includes(needle)) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      found.push(range.getBoundingClientRect());
    }
    return found.length > 0 ? found : [element.getBoundingClientRect()];
  }

  /** The number of levels up to a common ancestor. Elements that belong together are close in the tree. */
  function levelsUp(from: Element, to: Element): number {
    let levels = 0;
    for (let node: Element | null = from; node && !node.contains(to); node = node.parentElement) levels++;
    return levels;
  }

  function nearest(elements: readonly Element[], text: string): Element[] {
    const anchors = showing(text).flatMap((element) =>
      placesOfText(element, plain(text)).map((place) => ({ element, place })),
    );
    if (anchors.length === 0) return [];
    const away = (to: Element) =>
      Math.min(
        ...anchors.map(
          ({ element, place }) => levelsUp(element, to) * 1e6 + distance(to.getBoundingClientRect(), place),
        ),
      );
    return [...elements].sort((one, other) => away(one) - away(other));
  }

  function selected(selector: string): Element[] | string {
    try {
      return [...document.querySelectorAll(selector)];
    } catch {
      return `\`${selector}\` is not a CSS selector.`;
    }
  }

  function candidates(wanted: ElementQuery, given: readonly Element[]): Element[] | string {
    if (wanted.number !== undefined) {
      const element = numbered[wanted.number - 1];
      return element?.isConnected ? [element] : 'No such number on this page: read the page again.';
    }
    if (wanted.text !== undefined) return showing(wanted.text);
    if (wanted.selector !== undefined) return selected(wanted.selector);
    return [...given];
  }

  function choose(wanted: ElementQuery, given: readonly Element[]): Element | string {
    const all = candidates(wanted, given);
    if (typeof all === 'string') return all;
    const visible = all.filter(isVisible);
    const ordered = wanted.near_text === undefined ? visible : nearest(visible, wanted.near_text);
    return ordered[(wanted.nth ?? 1) - 1] ?? 'No such element is on the page.';
  }

  const placeOf = (element: Element) =>
    [...element.getClientRects()].find(({ width, height }) => width > 0 && height > 0);

  /** Looks through open shadow roots, which hide their content from `elementFromPoint`. */
  function topmostAt(x: number, y: number): Element | null {
    let element = document.elementFromPoint(x, y);
    while (element?.shadowRoot) {
      const inner = element.shadowRoot.elementFromPoint(x, y);
      if (!inner || inner === element) break;
      element = inner;
    }
    return element;
  }

  function isWithin(inner: Node | null, outer: Element): boolean {
    for (let node: Node | null = inner; node; node = node.parentNode ?? (node as ShadowRoot).host ?? null) {
      if (node === outer) return true;
    }
    return false;
  }

  /** `given`: elements that were found by role. */
  async function spotOf(wanted: ElementQuery, ...given: Element[]): Promise<ClickTarget> {
    const element = choose(wanted, given);
    if (typeof element === 'string') return { found: false, why: element };
    if (element.matches(':disabled')) return { found: false, why: 'The element is disabled.' };
    element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    const before = placeOf(element);
    await pause(40);
    const now = placeOf(element);
    if (!before || !now) return { found: false, why: 'The element takes up no room.' };
    if (before.top !== now.top || before.left !== now.left) return { found: false, why: 'The element is moving.' };
    const [x, y] = [now.left + now.width / 2, now.top + now.height / 2];
    const top = topmostAt(x, y);
    if (isWithin(top, element) || isWithin(element, top as Element) || labelOf(element).includes(top as Element)) {
      return { found: true, x, y };
    }
    return { found: false, why: 'Another element covers it.' };
  }

  const labelOf = (element: Element): readonly Element[] => [...((element as HTMLInputElement).labels ?? [])];

  const isEditable = (element: Element) =>
    (element instanceof HTMLInputElement &&
      !['submit', 'button', 'reset', 'hidden', 'image', 'file', 'checkbox', 'radio'].includes(element.type)) ||
    element instanceof HTMLTextAreaElement ||
    element instanceof HTMLSelectElement ||
    (element as HTMLElement).isContentEditable;

  function everyElement(root: ParentNode = document): Element[] {
    return [...root.querySelectorAll('*')].flatMap((element) => [
      element,
      ...(element.shadowRoot ? everyElement(element.shadowRoot) : []),
    ]);
  }

  const namesOf = (element: Element) =>
    [
      ...labelOf(element).map((label) => label.textContent),
      element.getAttribute('aria-label'),
      ...(element.getAttribute('aria-labelledby') ?? '')
        .split(/\s+/)
        .map((id) => id && document.getElementById(id)?.textContent),
      element.getAttribute('placeholder'),
      element.getAttribute('title'),
      element.getAttribute('name'),
    ]
      .map((name) => squash(name ?? ''))
      .filter((name) => name !== '');

  function fieldNamed(into: string): Element | undefined {
    const fields = everyElement().filter((element) => isEditable(element) && isVisible(element));
    const needle = plain(into);
    const named = (fits: (name: string) => boolean) => fields.find((field) => namesOf(field).map(plain).some(fits));
    const bySelector = selected(into);
    return (
      named((name) => name === needle) ??
      (typeof bySelector === 'string' ? undefined : bySelector.find((each) => isEditable(each) && isVisible(each))) ??
      named((name) => name.includes(needle))
    );
  }

  /** Focuses the field and selects its content, so that typing replaces it. A select element gets its value at once. */
  function takeField(wanted: { into: string } | { number: number }, text: string): FieldResult {
    const field = 'into' in wanted ? fieldNamed(wanted.into) : numbered[wanted.number - 1];
    if (!field?.isConnected || !isEditable(field)) return { found: false, why: 'No such field is on the page.' };
    if (field.matches(':disabled') || (field as HTMLInputElement).readOnly) {
      return { found: false, why: 'The field cannot be written in.' };
    }
    field.scrollIntoView({ block: 'center', behavior: 'instant' });
    (field as HTMLElement).focus();
    if (field instanceof HTMLSelectElement) return choice(field, text);
    if (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) field.select();
    else getSelection()?.selectAllChildren(field);
    return { found: true, isDone: false };
  }

  function choice(field: HTMLSelectElement, text: string): FieldResult {
    const options = [...field.options];
    const option =
      options.find((each) => plain(each.label) === plain(text) || each.value === text) ??
      options.find((each) => plain(each.label).includes(plain(text)));
    if (!option) return { found: false, why: 'The list has no such choice.' };
    field.value = option.value;
    for (const type of ['input', 'change']) field.dispatchEvent(new Event(type, { bubbles: true }));
    return { found: true, isDone: true };
  }

  /** Waits two frames, so that the page sees the scroll event and loads more content. */
  async function scroll(to: 'bottom' | 'top' | number): Promise<{ y: number }> {
    const height = document.scrollingElement?.scrollHeight ?? 0;
    if (typeof to === 'number') scrollBy({ top: to, behavior: 'instant' });
    else scrollTo({ top: to === 'top' ? 0 : height, behavior: 'instant' });
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    await Promise.race([frame().then(frame), pause(200)]);
    return { y: Math.round(scrollY) };
  }

  const shows = (wanted: { text: string } | { selector: string }): boolean => {
    if ('text' in wanted) return plain(rendered(document.body)).includes(plain(wanted.text));
    const found = selected(wanted.selector);
    return typeof found !== 'string' && found.some(isVisible);
  };

  async function call(request: { url: string; method: string; headers: Record<string, string>; body: string | null }) {
    const { url, method, headers, body } = request;
    try {
      const response = await fetch(url, { method, headers, credentials: 'include', ...(body !== null && { body }) });
      return {
        ok: true as const,
        url: response.url,
        status: response.status,
        content_type: response.headers.get('content-type') ?? '',
        // Callers are shown at most 1 MiB of it.
        text: (await response.text()).slice(0, 1_100_000),
      };
    } catch {
      return { ok: false as const };
    }
  }

  /** Looks for a check such as Turnstile. The script never touches it. */
  function botCheck(): 'none' | 'pending' | 'passed' {
    const answers = [...document.querySelectorAll<HTMLInputElement>('[name="cf-turnstile-response"]')];
    if (answers.length > 0) return answers.some(({ value }) => value !== '') ? 'passed' : 'pending';
    const isThere = document.querySelector(
      '.cf-turnstile, #challenge-form, #challenge-running, iframe[src*="challenges.cloudflare.com"]',
    );
    return isThere ? 'pending' : 'none';
  }

  /** Providers that collect card numbers in their own frame. */
  const paymentFrames =
    /^https:\/\/([\w-]+\.)*(js\.stripe\.com|checkout\.stripe\.com|hooks\.stripe\.com|adyen\.com|braintreegateway\.com|braintree-api\.com|paypal\.com|squarecdn\.com|squareup\.com|checkout\.com|worldpay\.com|mollie\.com|razorpay\.com|klarna\.com|authorize\.net|cybersource\.com|pay\.google\.com|shopifycs\.com|bluesnap\.com|recurly\.com|spreedly\.com)\//;
  const cardNumber = /\b(card|karten?|carte|tarjeta|cc)[\s_-]*(number|no|nr|num|nummer)\b|cardnumber|ccnumber|ccnum\b/i;
  const cardSecret = /\b(cvc2?|cvv2?|csc)\b|security[\s_-]*code|card[\s_-]*(verification|code)/i;
  const cardExpiry = /\bexp(iry|iration|ires|[\s_-]?(date|month|year))|valid[\s_-]*(thru|until)|mm ?\/ ?yy/i;
  const autofillOf = (element: Element) => (element.getAttribute('autocomplete') ?? '').toLowerCase().split(/\s+/);
  const hasAutofill = (element: Element, wanted: RegExp) => autofillOf(element).some((word) => wanted.test(word));
  const isSecretField = (element: Element) =>
    (element as HTMLInputElement).type === 'password' ||
    hasAutofill(element, /^(cc-(number|csc|exp|exp-month|exp-year)|one-time-code|current-password|new-password)$/);

  /** Whether the visible page asks for a payment or a secret. */
  function asksFor(): 'payment' | 'secret' | null {
    const all = everyElement();
    const fields = all.filter((element) => isEditable(element) && isVisible(element));
    const isCalled = (wanted: RegExp) =>
      fields.some((field) => [...namesOf(field), field.id].some((name) => wanted.test(name)));
    const isPayment =
      fields.some((field) => hasAutofill(field, /^cc-(number|csc)$/)) ||
      (isCalled(cardNumber) && (isCalled(cardSecret) || isCalled(cardExpiry))) ||
      all.some((element) => {
        if (!(element instanceof HTMLIFrameElement) || !paymentFrames.test(element.src) || !isVisible(element))
          return false;
        // Payment scripts leave frames without a size on every page of a shop.
        const { width, height } = element.getBoundingClientRect();
        return width >= 40 && height >= 15;
      });
    if (isPayment) return 'payment';
    return fields.some(isSecretField) ? 'secret' : null;
  }

  const pressable =
    'a[href], button, input:not([type=hidden]), textarea, select, summary, [contenteditable=""], [contenteditable=true], [onclick], [role=button], [role=link], [role=checkbox], [role=radio], [role=tab], [role=menuitem], [role=option], [role=switch], [role=textbox], [role=combobox]';

  function described(element: Element): string {
    const name = squash(isButtonInput(element) ? element.value : rendered(element));
    const label = name || namesOf(element)[0] || squash(element.querySelector('img')?.alt ?? '');
    if (element instanceof HTMLSelectElement) {
      const options = [...element.options].slice(0, 20).map((each) => squash(each.label));
      return `list "${namesOf(element)[0] ?? ''}" = "${squash(element.selectedOptions[0]?.label ?? '')}" of ${options.join(' | ')}`;
    }
    if (element instanceof HTMLInputElement && ['checkbox', 'radio'].includes(element.type)) {
      return `${element.type} "${namesOf(element)[0] ?? ''}" ${element.checked ? 'on' : 'off'}`;
    }
    if (isEditable(element)) {
      const { type, value = '' } = element as HTMLInputElement;
      const shown =
        type === 'password' ? ' (password)' : isSecretField(element) ? ' (secret)' : ` = "${squash(value)}"`;
      return `field "${namesOf(element)[0] ?? ''}"${shown}`;
    }
    return `${element.tagName === 'A' || element.getAttribute('role') === 'link' ? 'link' : 'button'} "${label}"`;
  }

  /** The page as text, with a number before everything that can be clicked or filled in. */
  function read(): { title: string; text: string } {
    numbered = [];
    const lines: string[] = [];
    let line = '';
    const flush = () => {
      const text = squash(line);
      if (text !== '') lines.push(text);
      line = '';
    };
    const visit = (node: Node): void => {
      if (node.nodeType === Node.TEXT_NODE) line += node.textContent ?? '';
      if (!(node instanceof Element) || unread.includes(node.tagName)) return;
      if (!node.checkVisibility({ visibilityProperty: true })) return;
      const { display } = getComputedStyle(node);
      const isBlock = !display.startsWith('inline') && display !== 'contents';
      if (isBlock || node.tagName === 'BR') flush();
      if (node.matches(pressable)) {
        numbered.push(node);
        line += ` [${numbered.length}] ${described(node)} `;
      } else {
        if (/^H[1-6]$/.test(node.tagName)) line += `${'#'.repeat(Number(node.tagName[1]))} `;
        if (node instanceof HTMLImageElement && node.alt !== '') line += ` (picture: ${node.alt}) `;
        if (node.tagName === 'IFRAME') line += ' (a frame of another page) ';
        for (const child of [...(node.shadowRoot?.childNodes ?? []), ...node.childNodes]) visit(child);
      }
      if (isBlock) flush();
    };
    if (document.body) visit(document.body);
    flush();
    return { title: squash(document.title), text: lines.join('\n').slice(0, 400_000) };
  }

  const isNamed = (element: Element, needle: string) =>
    namesOf(element).some((name) => plain(name) === needle) ||
    (element.matches(pressable) && shownText(element) === needle);

  /** The box of the one element to show. `given`: the elements of its role, if it names one. */
  function partOf({ role, name, text }: CroppedElement, ...given: Element[]): PageArea | null {
    const byName = () => (name === undefined ? null : everyElement().filter((each) => isNamed(each, plain(name))));
    const named = role === undefined ? byName() : given;
    const fitting = named
      ? named.filter((each) => text === undefined || shownText(each).includes(plain(text)))
      : showing(text ?? '');
    const element = fitting.find(isVisible);
    if (!element) return null;
    const { top, bottom, left, right } = element.getBoundingClientRect();
    if (bottom <= 0 || right <= 0 || top >= innerHeight || left >= innerWidth) {
      element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    }
    const now = element.getBoundingClientRect();
    const [x, y] = [Math.max(0, now.left), Math.max(0, now.top)];
    const [width, height] = [Math.min(innerWidth, now.right) - x, Math.min(innerHeight, now.bottom) - y];
    return width >= 1 && height >= 1 ? { x, y, width, height } : null;
  }

  return { partOf, spotOf, takeField, scroll, shows, call, botCheck, asksFor, read };
}

export type PageFunctions = ReturnType<typeof pageScript>;
