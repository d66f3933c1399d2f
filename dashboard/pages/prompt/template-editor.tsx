import { autocompletion, type CompletionContext } from '@codemirror/autocomplete';
import { placeholder } from '@codemirror/view';
import { useRef } from 'react';
import { useCursorTarget, useEditor } from '../../components/editor/use-editor.ts';
import classes from './editor.module.css';

/** A cursor position to jump to; a new object for each jump. */
export interface CursorTarget {
  readonly offset: number;
}

/** Edits one template, with highlighted placeholders and completion of variable names after `{{`. */
export default function TemplateEditor(props: {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  /** Names offered for completion. */
  readonly names: readonly string[];
  readonly readOnly: boolean;
  readonly target: CursorTarget | null;
  readonly onChange: (value: string) => void;
}) {
  const { hint, names } = props;
  const known = useRef(names);
  known.current = names;
  const { parent, editor } = useEditor(props, () => [
    placeholder(hint),
    autocompletion({ override: [(context) => complete(context, known.current)], icons: false }),
  ]);
  useCursorTarget(editor, props.target, ({ offset }, { state }) =>
    Math.min(offset, state.doc.length),
  );
  return <div ref={parent} className={classes.editor} />;
}

function complete(context: CompletionContext, names: readonly string[]) {
  const match = context.matchBefore(/\{\{[ \t]*[A-Za-z0-9_]*$/);
  if (!match) return null;
  const from = match.from + (/^\{\{[ \t]*/.exec(match.text)?.[0].length ?? 0);
  const closed = /^[ \t]*\}\}/.test(context.state.sliceDoc(context.pos, context.pos + 10));
  const options = names.map((name) => ({ label: name, apply: closed ? name : `${name}}}` }));
  return { from, options, validFor: /^[A-Za-z0-9_]*$/ };
}
