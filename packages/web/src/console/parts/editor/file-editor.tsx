import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { bracketMatching, foldGutter, foldKeymap, indentOnInput, indentUnit } from '@codemirror/language';
import { forceLinting, linter, lintGutter, lintKeymap } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { completeField, type FileFault, faultsIn, placedIn } from './deployment-words.ts';
import { editorLook } from './editor-look.ts';

type FileEditorProps = {
  value: string;
  onChange: (text: string) => void;
  /** What the server refused, shown at the fields it named until the text changes. */
  refused?: readonly FileFault[];
  onSave?: () => void;
  label: string;
};

/** A deployment file: completed from the contract's schema, and its faults shown where they are. Escape, then Tab leaves it. */
export default function FileEditor({ value, onChange, refused = noFaults, onSave, label }: FileEditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const now = useRef({ onChange, onSave, refused, first: value });
  now.current = { ...now.current, onChange, onSave, refused };

  useEffect(() => {
    const made = new EditorView({
      parent: place.current as HTMLDivElement,
      state: EditorState.create({
        doc: now.current.first,
        extensions: [
          editorLook,
          lineNumbers(),
          foldGutter(),
          history(),
          drawSelection(),
          indentOnInput(),
          indentUnit.of('  '),
          bracketMatching(),
          closeBrackets(),
          highlightActiveLine(),
          EditorView.lineWrapping,
          yaml(),
          autocompletion({ override: [completeField], icons: false }),
          lintGutter(),
          linter((shown) => {
            const text = shown.state.doc.toString();
            const found = faultsIn(text);
            return found.length > 0 ? found : placedIn(text, now.current.refused);
          }),
          keymap.of([
            {
              key: 'Mod-s',
              run: () => {
                now.current.onSave?.();
                return true;
              },
            },
            ...closeBracketsKeymap,
            ...defaultKeymap,
            ...historyKeymap,
            ...foldKeymap,
            ...completionKeymap,
            ...lintKeymap,
            indentWithTab,
          ]),
          EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) now.current.onChange(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = made;
    return () => made.destroy();
  }, [label]);

  useEffect(() => {
    const shown = view.current;
    if (!shown || shown.state.doc.toString() === value) return;
    shown.dispatch({ changes: { from: 0, to: shown.state.doc.length, insert: value } });
  }, [value]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: what was refused is looked at again when it changes.
  useEffect(() => {
    if (view.current) forceLinting(view.current);
  }, [refused]);

  return <div className="panel overflow-hidden [&_.cm-editor]:min-h-72 [&_.cm-editor]:max-h-[70dvh]" ref={place} />;
}

const noFaults: readonly FileFault[] = [];
