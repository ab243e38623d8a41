import { yaml } from '@codemirror/lang-yaml';
import { MergeView, unifiedMergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { editorLook } from './editor-look.ts';

/** A diff: side by side, or unified on narrow screens. Unchanged lines are folded. */
export default function Diff({
  before,
  after,
  labels,
  isYaml = true,
}: {
  before: string;
  after: string;
  labels: [string, string];
  isYaml?: boolean;
}) {
  const place = useRef<HTMLDivElement>(null);
  const [left, right] = labels;
  const isNarrow = window.matchMedia('(width < 40rem)').matches;
  useEffect(() => {
    const parent = place.current as HTMLDivElement;
    const side = (doc: string, label: string) => ({
      doc,
      extensions: [
        editorLook,
        lineNumbers(),
        isYaml ? yaml() : [],
        EditorView.lineWrapping,
        EditorState.readOnly.of(true),
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
      ],
    });
    const folding = { collapseUnchanged: { margin: 3, minSize: 6 }, gutter: true };
    const { doc, extensions } = side(after, `${left}, ${right}`);
    const view = isNarrow
      ? new EditorView({
          parent,
          doc,
          extensions: [...extensions, unifiedMergeView({ original: before, mergeControls: false, ...folding })],
        })
      : new MergeView({ a: side(before, left), b: side(after, right), parent, ...folding });
    return () => view.destroy();
  }, [before, after, left, right, isYaml, isNarrow]);
  return (
    <div>
      <div className={`eyebrow mb-1 ${isNarrow ? 'flex gap-4' : 'grid grid-cols-2'}`}>
        <span>{isNarrow ? `− ${left}` : left}</span>
        <span>{isNarrow ? `+ ${right}` : right}</span>
      </div>
      <div className="panel max-h-[70dvh] overflow-auto" ref={place} />
    </div>
  );
}
