import { type Diagnostic, setDiagnosticsEffect } from '@codemirror/lint';
import { type EditorState, StateField } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView, WidgetType } from '@codemirror/view';

/** Writes each fault behind the line it is about, so that nobody has to point at a mark. */
export const faultsBesideLines = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(shown, transaction) {
    const set = transaction.effects.find((effect) => effect.is(setDiagnosticsEffect));
    if (set) return besideLines(transaction.state, set.value);
    return shown.map(transaction.changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

function besideLines(state: EditorState, faults: readonly Diagnostic[]): DecorationSet {
  const byLine = new Map<number, string[]>();
  for (const { from, message } of faults) {
    const { to } = state.doc.lineAt(Math.min(from, state.doc.length));
    byLine.set(to, [...(byLine.get(to) ?? []), message]);
  }
  const widgets = [...byLine].map(([at, messages]) =>
    Decoration.widget({ widget: new FaultText(messages.join(' ')), side: 1 }).range(at),
  );
  return Decoration.set(widgets, true);
}

class FaultText extends WidgetType {
  readonly text: string;

  constructor(text: string) {
    super();
    this.text = text;
  }

  override eq(other: FaultText): boolean {
    return other.text === this.text;
  }

  override toDOM(): HTMLElement {
    const element = document.createElement('span');
    element.className = 'cm-fault-beside';
    element.textContent = this.text;
    return element;
  }
}
