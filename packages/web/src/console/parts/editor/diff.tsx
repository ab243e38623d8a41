import { yaml } from '@codemirror/lang-yaml';
import { MergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { editorLook } from './editor-look.ts';

/** Two texts side by side; what is the same is folded away. */
export default function Diff({ before, after, labels }: { before: string; after: string; labels: [string, string] }) {
  const place = useRef<HTMLDivElement>(null);
  const [left, right] = labels;
  useEffect(() => {
    const side = (doc: string, label: string) => ({
      doc,
      extensions: [
        editorLook,
        lineNumbers(),
        yaml(),
        EditorView.lineWrapping,
        EditorState.readOnly.of(true),
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
      ],
    });
    const view = new MergeView({
      a: side(before, left),
      b: side(after, right),
      parent: place.current as HTMLDivElement,
      collapseUnchanged: { margin: 3, minSize: 6 },
      gutter: true,
    });
    return () => view.destroy();
  }, [before, after, left, right]);
  return (
    <div>
      <div className="eyebrow mb-1 grid grid-cols-2">
        <span>{left}</span>
        <span>{right}</span>
      </div>
      <div className="panel max-h-[70dvh] overflow-auto" ref={place} />
    </div>
  );
}
