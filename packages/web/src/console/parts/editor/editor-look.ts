import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

/** The editor injects styles, which the content security policy allows by this nonce. */
const nonce = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? '';

const theme = EditorView.theme({
  '&': { backgroundColor: 'var(--surface)', color: 'var(--foreground)', fontSize: '0.8125rem' },
  // A pointer also focuses it, so the line is inside and thin.
  '&.cm-focused': { outline: '1.5px solid var(--accent)', outlineOffset: '-1px', borderRadius: 'var(--radius-lg)' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '1.55' },
  '.cm-content': { caretColor: 'var(--foreground)', paddingBlock: '0.5rem' },
  '.cm-cursor': { borderLeftColor: 'var(--foreground)' },
  '.cm-gutters': { backgroundColor: 'var(--surface)', color: 'var(--quiet)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'color-mix(in oklab, var(--muted) 60%, transparent)' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground, ::selection': {
    backgroundColor: 'var(--accent-soft) !important',
  },
  '.cm-tooltip': {
    backgroundColor: 'var(--raised)',
    color: 'var(--foreground)',
    border: '1px solid var(--line)',
    borderRadius: '0.375rem',
    overflow: 'hidden',
    maxWidth: '30rem',
  },
  '.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--font-mono)', fontSize: '0.8125rem' },
  '.cm-tooltip-autocomplete > ul > li': { padding: '0.2rem 0.5rem !important' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'var(--accent-soft)',
    color: 'var(--foreground)',
  },
  '.cm-completionInfo': { padding: '0.5rem 0.625rem !important', fontFamily: 'var(--font-sans)' },
  '.cm-completionDetail': { color: 'var(--quiet)', fontStyle: 'normal' },
  '.cm-diagnostic': {
    fontFamily: 'var(--font-sans)',
    borderLeft: '3px solid var(--danger)',
    padding: '0.375rem 0.625rem',
  },
  '.cm-fault-beside': {
    marginLeft: '1.5rem',
    padding: '0.05rem 0.4rem',
    borderRadius: '0.25rem',
    backgroundColor: 'var(--danger-soft)',
    color: 'var(--danger)',
    fontFamily: 'var(--font-sans)',
    whiteSpace: 'normal',
  },
  '.cm-panels': { backgroundColor: 'var(--muted)', color: 'var(--foreground)' },
  '.cm-foldPlaceholder, .cm-collapsedLines': {
    // Overrides the default, which is light in dark mode.
    background: 'var(--muted) !important',
    color: 'var(--quiet)',
    border: 'none',
  },
  // The default arrows need a rare font.
  '.cm-collapsedLines::before, .cm-collapsedLines::after': { content: 'none !important' },
  '.cm-changedLine': { backgroundColor: 'transparent' },
  '&.cm-merge-a .cm-changedLine, .cm-deletedChunk': { backgroundColor: 'var(--danger-soft)' },
  '&.cm-merge-b .cm-changedLine': { backgroundColor: 'var(--good-soft)' },
  '&.cm-merge-a .cm-changedText': { background: 'color-mix(in oklab, var(--danger) 8%, transparent)' },
  '&.cm-merge-b .cm-changedText': { background: 'color-mix(in oklab, var(--good) 8%, transparent)' },
});

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--accent)' },
  { tag: [tags.string, tags.content], color: 'var(--foreground)' },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: 'var(--warn)' },
  { tag: [tags.comment, tags.meta, tags.punctuation, tags.separator], color: 'var(--quiet)' },
]);

export const editorLook: Extension = [EditorView.cspNonce.of(nonce), theme, syntaxHighlighting(colours)];
