import { type Extension, Prec } from '@codemirror/state';
import {
  Decoration,
  EditorView,
  MatchDecorator,
  ViewPlugin,
  type ViewUpdate,
} from '@codemirror/view';
import { placeholderPattern } from '../../data/prompts/templates.ts';
import { styleNonce } from '../../theme/theme.ts';

/** The CodeMirror theme: colours of the page, and highlighted placeholders. */
export function editorTheme(label: string): Extension {
  return [
    EditorView.cspNonce.of(styleNonce()),
    EditorView.contentAttributes.of({ 'aria-label': label }),
    EditorView.lineWrapping,
    EditorView.perLineTextDirection.of(true),
    Prec.high(baseTheme),
    placeholders,
  ];
}

const baseTheme = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'transparent', fontSize: '0.8125rem' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.6' },
  '.cm-content': { padding: '0.625rem 0', caretColor: 'var(--text)' },
  '.cm-line': { padding: '0 0.875rem', unicodeBidi: 'plaintext' },
  '.cm-placeholder': { color: 'var(--soft)' },
  '.cm-variable': {
    padding: '0.0625rem 0.125rem',
    borderRadius: '3px',
    backgroundColor: 'var(--accent-soft)',
    color: 'var(--accent)',
    fontWeight: '600',
  },
  '.cm-tooltip': {
    overflow: 'hidden',
    border: '1px solid var(--line-strong)',
    borderRadius: '6px',
    backgroundColor: 'var(--card)',
    color: 'var(--text)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '0.25rem 0.625rem' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': {
    backgroundColor: 'var(--accent-soft)',
    color: 'var(--accent)',
  },
  '.cm-completionIcon': { display: 'none' },
  '.cm-gutters': { border: 'none', backgroundColor: 'transparent', color: 'var(--soft)' },
  '.cm-collapsedLines': {
    background: 'var(--raised)',
    color: 'var(--soft)',
    fontFamily: 'var(--sans)',
  },
  '&.cm-merge-a .cm-changedLine, .cm-deletedChunk': { backgroundColor: 'var(--bad-soft)' },
  '&.cm-merge-b .cm-changedLine': { backgroundColor: 'var(--good-soft)' },
  '&.cm-merge-a .cm-changedText': {
    background: 'color-mix(in oklab, var(--bad) 22%, transparent)',
  },
  '&.cm-merge-b .cm-changedText': {
    background: 'color-mix(in oklab, var(--good) 22%, transparent)',
  },
});

const mark = Decoration.mark({ class: 'cm-variable' });
const matcher = new MatchDecorator({ regexp: placeholderPattern, decoration: () => mark });

const placeholders = ViewPlugin.define(
  (view) => ({
    marks: matcher.createDeco(view),
    update(update: ViewUpdate) {
      this.marks = matcher.updateDeco(update, this.marks);
    },
  }),
  { decorations: ({ marks }) => marks },
);
