import { Button, Group, SegmentedControl } from '@mantine/core';
import { type ReactNode, useMemo, useRef, useState } from 'react';
import editor from '../../../components/editor/editor.module.css';
import { Icon } from '../../../components/icon.tsx';
import { describeError } from '../../../components/states/error-state.tsx';
import { StateBadge } from '../../../components/states/state-badge.tsx';
import { useAgentNames } from '../../../data/agents/agent-names.ts';
import {
  addStep,
  type DefinitionEdit,
  editDefinition,
} from '../../../data/workflows/definition-edit.ts';
import {
  type DefinitionFormat,
  readDefinition,
  writeDefinition,
} from '../../../data/workflows/definition-text.ts';
import { unknownAgentId } from '../../../data/workflows/named-agents.ts';
import { type GraphStep, graphSteps } from '../../../data/workflows/workflow-graph.ts';
import { Graph } from '../graph/graph.tsx';
import classes from './definition.module.css';
import { DefinitionForm } from './definition-form.tsx';
import DefinitionTextEditor, { type CursorTarget } from './definition-text-editor.tsx';
import { useValidation, type Validation } from './use-validation.ts';

/** The definition and whether the server accepts it. */
export type ValidatedDefinition = Pick<Validation, 'definition' | 'valid'>;

type View = DefinitionFormat | 'Form';

interface EditorProps {
  readonly text: string;
  readonly format: DefinitionFormat;
  readonly readOnly: boolean;
  readonly onChange: (text: string, format: DefinitionFormat) => void;
  /** Content below, such as a save form. */
  readonly children?: (validated: ValidatedDefinition) => ReactNode;
}

/** Edits a definition as text or by form, beside its graph; the server validates it while the user types. */
export default function DefinitionEditor(props: EditorProps) {
  const { text, format, readOnly, onChange } = props;
  const [view, setView] = useState<View>(format);
  const [chosen, setChosen] = useState<number | null>(null);
  const [target, setTarget] = useState<CursorTarget | null>(null);
  const validation = useValidation(text, !readOnly);
  const { definition, steps, lineOf } = useReadable(text);
  const current = useRef(text);
  current.current = text;
  const edit = (change: DefinitionEdit) =>
    onChange(editDefinition(current.current, format, change), format);
  const show = (to: View) => {
    setView(to);
    if (to === 'Form' || to === format || definition === undefined || definition === null) return;
    onChange(writeDefinition(definition, to), to);
  };
  const jump = (line: number) => {
    setView(format);
    setTarget({ line });
  };
  const choose = ({ index }: GraphStep) => {
    setChosen(index);
    if (view !== 'Form') jump(lineOf(`steps.${index}`));
  };
  const add = () => {
    edit(addStep(newStep(steps)));
    setChosen(steps.length);
    setView('Form');
  };
  const shown = view === 'Form' ? 'Form' : format;
  return (
    <>
      <div className={classes.panes}>
        <section className={editor.frame} aria-label="Definition">
          <header className={classes.head}>
            <h2>Definition</h2>
            <SegmentedControl
              size="xs"
              aria-label="View"
              data={readOnly ? ['YAML', 'JSON'] : ['Form', 'YAML', 'JSON']}
              value={shown}
              onChange={(to) => show(to as View)}
            />
          </header>
          {shown === 'Form' ? (
            <DefinitionForm
              definition={definition}
              chosen={chosen}
              onChoose={setChosen}
              onEdit={edit}
              onAdd={add}
            />
          ) : (
            <DefinitionTextEditor
              value={text}
              readOnly={readOnly}
              problems={validation.problems}
              target={target}
              onChange={(typed) => onChange(typed, format)}
            />
          )}
        </section>
        <div className="stack-small">
          <GraphPane
            steps={steps}
            validation={validation}
            chosen={chosen}
            onChoose={choose}
            onAdd={readOnly || definition === undefined ? null : add}
            onForm={readOnly || view === 'Form' ? null : () => setView('Form')}
          />
          {!readOnly && <Verdict validation={validation} onJump={jump} />}
        </div>
      </div>
      {props.children?.(validation)}
    </>
  );
}

/** The definition as it is read now. While the text cannot be parsed, the graph keeps the last steps. */
function useReadable(text: string) {
  const read = useMemo(() => readDefinition(text), [text]);
  const found = useMemo(
    () => (read.definition === undefined ? null : graphSteps(read.definition)),
    [read],
  );
  const last = useRef<readonly GraphStep[]>(noSteps);
  if (found) last.current = found;
  return { definition: read.definition, lineOf: read.lineOf, steps: last.current };
}

const noSteps: readonly GraphStep[] = [];

/** A step without an agent, which its form asks for. */
function newStep(steps: readonly GraphStep[]): { readonly name: string } {
  const names = new Set(steps.map(({ name }) => name));
  let number = steps.length + 1;
  while (names.has(`step_${number}`)) number++;
  return { name: `step_${number}` };
}

function GraphPane(props: {
  readonly steps: readonly GraphStep[];
  readonly validation: Validation;
  readonly chosen: number | null;
  readonly onChoose: (step: GraphStep) => void;
  /** Null hides the button. */
  readonly onAdd: (() => void) | null;
  /** Null hides the button. */
  readonly onForm: (() => void) | null;
}) {
  const { steps, validation, chosen, onChoose, onAdd, onForm } = props;
  const nameOf = useAgentNames(steps.flatMap(({ agentId }) => agentId ?? []).filter(isAgentId));
  const selected = chosen === null ? undefined : steps[chosen];
  const problemsOf = ({ index }: GraphStep) => {
    const count = validation.problems.filter(({ stepIndex }) => stepIndex === index).length;
    if (count === 0) return undefined;
    const text = count === 1 ? '1 problem' : `${count} problems`;
    return { tone: 'bad', badge: <StateBadge tone="bad" text={text} /> };
  };
  return (
    <>
      <header className={classes.graphHead}>
        <h2>Graph</h2>
        <Group gap="xs">
          {selected && onForm && (
            <Button size="xs" variant="default" onClick={onForm}>
              Edit {selected.name}
            </Button>
          )}
          {onAdd && (
            <Button
              size="xs"
              variant="default"
              leftSection={<Icon name="plus" size={12} />}
              onClick={onAdd}
            >
              Add step
            </Button>
          )}
        </Group>
      </header>
      {steps.length === 0 ? (
        <p className="note">No steps yet.</p>
      ) : (
        <Graph
          steps={steps}
          label="Steps of the definition"
          nameOf={nameOf}
          chosen={chosen}
          onChoose={onChoose}
          stateOf={problemsOf}
        />
      )}
    </>
  );
}

const isAgentId = (text: string) => /^agt_[0-9a-z]{26}$/.test(text) && text !== unknownAgentId;

/** Whether the definition is valid, and its problems with their lines. */
function Verdict(props: {
  readonly validation: Validation;
  readonly onJump: (line: number) => void;
}) {
  const { problems, valid, error } = props.validation;
  return (
    <>
      <div role="status" className={classes.verdict}>
        {error ? (
          <span data-bad>Validation failed: {describeError(error).message}</span>
        ) : problems.length > 0 ? (
          <span data-bad>
            {problems.length === 1 ? '1 problem' : `${problems.length} problems`}
          </span>
        ) : valid ? (
          <span data-good>Valid.</span>
        ) : (
          'Validating…'
        )}
      </div>
      {problems.length > 0 && (
        <ul className={classes.problems} aria-label="Problems">
          {problems.map(({ line, message }) => (
            <li key={`${line} ${message}`}>
              <button type="button" onClick={() => props.onJump(line)}>
                Line {line}
              </button>
              <span>{message}</span>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
