import { Compartment } from '@codemirror/state';
import { Decoration, EditorView, lineNumbers, placeholder } from '@codemirror/view';
import { useEffect } from 'react';
import { jsonProblem } from '../../data/text/json-problem.ts';
import classes from './json-editor.module.css';
import { useEditor } from './use-editor.ts';

/** Edits JSON: marks the line with a syntax error, and shows what is wrong. */
export default function JsonEditor(props: {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly readOnly: boolean;
  /** What else is wrong; the syntax is checked here. */
  readonly error?: string | null | undefined;
  readonly onChange: (value: string) => void;
}) {
  const { hint, value } = props;
  const { parent, editor } = useEditor(props, () => [
    lineNumbers(),
    placeholder(hint),
    marked.of([]),
  ]);
  const problem = value.trim() === '' ? null : jsonProblem(value);
  const line = problem?.line ?? null;
  useEffect(() => {
    const view = editor.current;
    if (!view) return;
    const isLine = line !== null && line <= view.state.doc.lines;
    const decorations = isLine
      ? Decoration.set(wrong.range(view.state.doc.line(line).from))
      : Decoration.none;
    view.dispatch({ effects: marked.reconfigure(EditorView.decorations.of(decorations)) });
  }, [line, editor]);
  const message = problem?.message ?? props.error;
  return (
    <>
      <div ref={parent} className={classes.editor} />
      {message && (
        <p className={classes.problem} role="status">
          {message}
        </p>
      )}
    </>
  );
}

const marked = new Compartment();
const wrong = Decoration.line({ class: classes.wrong ?? '' });
