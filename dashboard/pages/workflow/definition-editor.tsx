import { SegmentedControl } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useMemo, useState } from 'react';
import editor from '../../components/editor/editor.module.css';
import { describeError } from '../../components/error-state.tsx';
import { agentsQuery } from '../../data/agents/agents.ts';
import {
  type DefinitionFormat,
  type LineProblem,
  readDefinition,
  writeDefinition,
} from '../../data/workflows/definition-text.ts';
import { validationQuery } from '../../data/workflows/workflows.ts';
import classes from './definition.module.css';
import DefinitionTextEditor, { type CursorTarget } from './definition-text-editor.tsx';

const validationDelayMs = 400;

/** The definition and whether the server accepts it. */
export interface ValidatedDefinition {
  /** Undefined if the text cannot be parsed. */
  readonly definition: unknown;
  /** False until validated. */
  readonly valid: boolean;
}

/** Edits a definition; the server validates it while the user types. */
export default function DefinitionEditor(props: {
  readonly text: string;
  readonly format: DefinitionFormat;
  readonly readOnly: boolean;
  readonly onChange: (text: string, format: DefinitionFormat) => void;
  /** Content below the problems, such as a save form. */
  readonly children?: (judged: ValidatedDefinition) => ReactNode;
}) {
  const { text, format, readOnly, onChange } = props;
  const [target, setTarget] = useState<CursorTarget | null>(null);
  const [settled] = useDebouncedValue(text, validationDelayMs);
  const read = useMemo(() => readDefinition(settled), [settled]);
  const judged = !readOnly && read.definition !== undefined;
  const verdict = useQuery({ ...validationQuery(read.definition ?? null), enabled: judged });
  const agents = useQuery(agentsQuery({ limit: 100 })).data?.agents;
  const current = settled === text && !verdict.isPlaceholderData;
  const problems = useMemo((): readonly LineProblem[] => {
    if (read.definition === undefined) return read.problems;
    if (!judged) return [];
    return (verdict.data?.problems ?? []).map(({ step, path, message }) => ({
      line: read.lineOf(path),
      message: step === null ? message : `${step}: ${message}`,
    }));
  }, [read, judged, verdict.data]);
  const write = (to: DefinitionFormat) => {
    if (to === format) return;
    const now = readDefinition(text).definition;
    if (now !== undefined && now !== null) onChange(writeDefinition(now, to), to);
  };
  const valid = judged && current && verdict.data?.problems.length === 0;
  return (
    <>
      <section className={editor.frame} aria-label="Definition">
        <header className={classes.head}>
          <h2>Definition</h2>
          <SegmentedControl
            size="xs"
            aria-label="Format"
            data={['YAML', 'JSON']}
            value={format}
            onChange={(to) => write(to as DefinitionFormat)}
          />
        </header>
        <DefinitionTextEditor
          value={text}
          readOnly={readOnly}
          agents={agents ?? none}
          problems={problems}
          target={target}
          onChange={(typed) => onChange(typed, format)}
        />
      </section>
      {!readOnly && (
        <div role="status" className={classes.verdict}>
          {verdict.isError ? (
            <span data-bad>Validation failed: {describeError(verdict.error).message}</span>
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
      )}
      {problems.length > 0 && (
        <ul className={classes.problems} aria-label="Problems">
          {problems.map(({ line, message }) => (
            <li key={`${line} ${message}`}>
              <button type="button" onClick={() => setTarget({ line })}>
                Line {line}
              </button>
              <span>{message}</span>
            </li>
          ))}
        </ul>
      )}
      {props.children?.({ definition: read.definition, valid })}
    </>
  );
}

const none = [] as const;
