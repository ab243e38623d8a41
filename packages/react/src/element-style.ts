/** The element's own parts; what is in the frame is the session page's. */
export const elementStyle = `
:host { display: block; block-size: 40rem; position: relative; font: 1rem/1.4 ui-sans-serif, system-ui, sans-serif }
:host([hidden]) { display: none }
:host([layout="launcher"]) { display: contents }
* { box-sizing: border-box }

.panel {
  display: flex; flex-direction: column; inline-size: 100%; block-size: 100%; overflow: hidden;
  background: var(--vestra-background, Canvas); color: var(--vestra-foreground, CanvasText);
  color-scheme: var(--scheme, light dark);
}
header { display: flex; align-items: center; gap: .625rem; padding: .75rem .75rem .75rem 1rem; min-block-size: 3.5rem;
  border-block-end: 1px solid var(--vestra-border, color-mix(in srgb, currentColor 14%, transparent)) }
header:not(.used) { display: none }
header img { inline-size: 1.75rem; block-size: 1.75rem; object-fit: contain; border-radius: .375rem }
header .heading { flex: 1; font-weight: 600; overflow: hidden; text-overflow: ellipsis; white-space: nowrap;
  font-family: var(--vestra-font, inherit) }
iframe { flex: 1; min-block-size: 0; inline-size: 100%; border: 0; background: transparent; color-scheme: normal }

button { font: inherit; color: inherit; cursor: pointer; border: 0; padding: 0; display: grid; place-items: center }
button:focus-visible { outline: 2px solid var(--vestra-accent, Highlight); outline-offset: 2px }
.close { display: none; inline-size: 2.25rem; block-size: 2.25rem; border-radius: 50%; background: transparent; flex: none }
.close:hover { background: color-mix(in srgb, currentColor 9%, transparent) }
.bubble { display: none }
svg { inline-size: 1.5rem; block-size: 1.5rem; fill: none; stroke: currentColor; stroke-width: 2; stroke-linecap: round; stroke-linejoin: round }
.close svg { inline-size: 1.25rem; block-size: 1.25rem }

:host([layout="launcher"]) .panel {
  display: none; position: fixed; z-index: var(--vestra-layer, 2147483000);
  inset-block-end: calc(var(--vestra-inset, 1.25rem) + 4.5rem); inset-inline-end: var(--vestra-inset, 1.25rem);
  inline-size: min(25rem, calc(100vw - 2 * var(--vestra-inset, 1.25rem)));
  block-size: min(42rem, calc(100dvh - 2 * var(--vestra-inset, 1.25rem) - 4.5rem));
  border-radius: var(--vestra-radius, 1.125rem);
  border: 1px solid color-mix(in srgb, currentColor 14%, transparent);
  box-shadow: 0 1px 3px rgb(0 0 0 / .12), 0 16px 48px -12px rgb(0 0 0 / .35);
}
:host([layout="launcher"][open]) .panel { display: flex }
:host([layout="launcher"]) .close { display: grid }
:host([layout="launcher"]) .bubble {
  display: grid; position: fixed; z-index: var(--vestra-layer, 2147483000);
  inset-block-end: var(--vestra-inset, 1.25rem); inset-inline-end: var(--vestra-inset, 1.25rem);
  inline-size: 3.5rem; block-size: 3.5rem; border-radius: 50%;
  background: var(--vestra-launcher, var(--vestra-primary, #2c4bd0));
  color: var(--vestra-launcher-foreground, var(--vestra-primary-foreground, #fff));
  box-shadow: 0 1px 3px rgb(0 0 0 / .2), 0 8px 24px -6px rgb(0 0 0 / .4);
}
.bubble img { inline-size: 2rem; block-size: 2rem; object-fit: contain; border-radius: 50% }
.unread { position: absolute; inset-block-start: -.25rem; inset-inline-end: -.25rem; min-inline-size: 1.375rem; padding-inline: .375rem;
  border-radius: 999px; background: var(--vestra-danger, #b3261e); color: #fff; font-size: .8125rem; font-weight: 600; line-height: 1.375rem }
.unread:empty { display: none }

@media (max-width: 30rem) {
  :host([layout="launcher"]) .panel { inset: 0; inline-size: 100%; block-size: 100%; border: 0; border-radius: 0; z-index: var(--vestra-layer, 2147483001) }
}
@media (prefers-reduced-motion: no-preference) {
  :host([layout="launcher"][open]) .panel { animation: rise 180ms cubic-bezier(.2, .8, .2, 1) }
  @keyframes rise { from { opacity: 0; transform: translateY(8px) } }
}
`;
