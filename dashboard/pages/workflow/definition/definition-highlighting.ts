import { type Extension, type Range, RangeSet, StateField } from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  EditorView,
  GutterMarker,
  gutterLineClass,
  MatchDecorator,
  ViewPlugin,
  type ViewUpdate,
  WidgetType,
} from '@codemirror/view';

/** Highlights keys, references and comments. */
export const definitionHighlighting: Extension = [
  matched(
    new MatchDecorator({
      regexp: /(\{\{[^{}\n]*\}\})|("?[A-Za-z_]\w*"?)(?=:(?:\s|$))|(?<=^|\s)(#.*)$/gm,
      decorate(add, from, _to, [text, reference, member]) {
        const mark = reference ? marks.reference : member ? marks.member : marks.comment;
        add(from, from + text.length, mark);
      },
    }),
  ),
  EditorView.theme({
    '.cm-reference': { color: 'var(--accent)', fontWeight: '600' },
    '.cm-member': { color: 'var(--soft)' },
    '.cm-comment': { color: 'var(--soft)', fontStyle: 'italic' },
    '.cm-agent-name': {
      marginLeft: '0.75rem',
      color: 'var(--soft)',
      fontFamily: 'var(--sans)',
      fontSize: '0.75rem',
    },
    '.cm-problem-line': { backgroundColor: 'var(--bad-soft)' },
    '.cm-problem-line::after': {
      content: 'attr(data-problem)',
      marginLeft: '1rem',
      color: 'var(--bad)',
      fontFamily: 'var(--sans)',
      fontSize: '0.75rem',
    },
    '.cm-gutterElement.cm-problem-number': { color: 'var(--bad)', fontWeight: '700' },
  }),
];

const marks = {
  reference: Decoration.mark({ class: 'cm-reference' }),
  member: Decoration.mark({ class: 'cm-member' }),
  comment: Decoration.mark({ class: 'cm-comment' }),
};

/** Shows agent names after their ids. */
export function agentNames(names: ReadonlyMap<string, string>): Extension {
  return matched(
    new MatchDecorator({
      regexp: /agt_[0-9a-z]{26}"?/g,
      decorate(add, from, _to, [text]) {
        const name = names.get(text.slice(0, 30));
        const at = from + text.length;
        if (name) add(at, at, Decoration.widget({ widget: new AgentName(name), side: 1 }));
      },
    }),
  );
}

class AgentName extends WidgetType {
  readonly name: string;

  constructor(name: string) {
    super();
    this.name = name;
  }

  override eq(other: AgentName): boolean {
    return other.name === this.name;
  }

  override toDOM(): HTMLElement {
    const span = document.createElement('span');
    span.className = 'cm-agent-name';
    span.textContent = this.name;
    return span;
  }
}

/** Marks lines with problems and shows what they are. The marks move with edits until the next validation. */
export function problemLines(
  problems: readonly { readonly line: number; readonly message: string }[],
): Extension {
  if (problems.length === 0) return [];
  const byLine = [...Map.groupBy(problems, ({ line }) => line)].toSorted(([a], [b]) => a - b);
  const field = StateField.define<DecorationSet>({
    create({ doc }) {
      const known = byLine.filter(([line]) => line >= 1 && line <= doc.lines);
      return Decoration.set(
        known.map(([line, found]) => problemLine(found).range(doc.line(line).from)),
      );
    },
    update: (lines, { changes }) => lines.map(changes),
    provide: (field) => [
      EditorView.decorations.from(field),
      gutterLineClass.compute([field], (state) => {
        const ranges: Range<GutterMarker>[] = [];
        for (let at = state.field(field).iter(); at.value; at.next()) {
          ranges.push(problemNumber.range(state.doc.lineAt(at.from).from));
        }
        return RangeSet.of(ranges, true);
      }),
    ],
  });
  return field;
}

/** The text is an attribute, so that it is not part of the edited text. The list of problems repeats it. */
function problemLine(problems: readonly { readonly message: string }[]): Decoration {
  const text = problems.map(({ message }) => message).join(' · ');
  return Decoration.line({ class: 'cm-problem-line', attributes: { 'data-problem': text } });
}

const problemNumber = new (class extends GutterMarker {
  override elementClass = 'cm-problem-number';
})();

function matched(matcher: MatchDecorator): Extension {
  return ViewPlugin.define(
    (view) => ({
      marks: matcher.createDeco(view),
      update(update: ViewUpdate) {
        this.marks = matcher.updateDeco(update, this.marks);
      },
    }),
    { decorations: ({ marks }) => marks },
  );
}
