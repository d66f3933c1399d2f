import { autocompletion } from '@codemirror/autocomplete';
import { Compartment } from '@codemirror/state';
import { lineNumbers } from '@codemirror/view';
import { useEffect } from 'react';
import { useCursorTarget, useEditor } from '../../../components/editor/use-editor.ts';
import { useAgentNames } from '../../../data/agents/agent-names.ts';
import { completeDefinition } from './complete-definition.ts';
import classes from './definition.module.css';
import { agentNames, definitionHighlighting, problemLines } from './definition-highlighting.ts';

/** A line to jump to; a new object for each jump. */
export interface CursorTarget {
  readonly line: number;
}

/** The definition's text editor, with marked problem lines, agent names and completion. */
export default function DefinitionTextEditor(props: {
  readonly value: string;
  readonly readOnly: boolean;
  readonly problems: readonly { readonly line: number; readonly message: string }[];
  readonly target: CursorTarget | null;
  readonly onChange: (value: string) => void;
}) {
  const { value, problems } = props;
  const { parent, editor } = useEditor({ ...props, label: 'Definition' }, () => [
    lineNumbers(),
    definitionHighlighting,
    compartments.agents.of([]),
    compartments.problems.of([]),
    autocompletion({ override: [completeDefinition], icons: false }),
  ]);
  const ids = [...new Set(value.match(/\bagt_[0-9a-z]{26}\b/g))];
  const nameOf = useAgentNames(ids);
  const names = JSON.stringify(ids.map((id) => [id, nameOf(id) ?? '']));
  useEffect(() => {
    const known = new Map(JSON.parse(names) as [string, string][]);
    editor.current?.dispatch({ effects: compartments.agents.reconfigure(agentNames(known)) });
  }, [names, editor]);
  useEffect(() => {
    editor.current?.dispatch({
      effects: compartments.problems.reconfigure(problemLines(problems)),
    });
  }, [problems, editor]);
  useCursorTarget(
    editor,
    props.target,
    ({ line }, { state }) => state.doc.line(Math.min(line, state.doc.lines)).from,
  );
  return <div ref={parent} className={classes.editor} />;
}

const compartments = {
  agents: new Compartment(),
  problems: new Compartment(),
};
