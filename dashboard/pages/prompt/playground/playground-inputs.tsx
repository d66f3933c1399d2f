import { Button, Menu } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { ModelFields } from '../../../components/fields/model-fields.tsx';
import { ValuesFields } from '../../../components/fields/values-fields.tsx';
import { Card } from '../../../components/layout/card.tsx';
import { variablesOf } from '../../../data/prompts/templates.ts';
import type { ValueSets } from '../../../data/prompts/value-sets.ts';
import { type Draft, templatesOf } from '../draft.ts';
import { ExtrasField } from '../extras-field.tsx';
import { PromptTexts } from '../prompt-texts.tsx';
import { SchemaEditors } from '../schema-editors.tsx';
import { VersionStatus } from '../version-status.tsx';
import classes from './playground.module.css';
import type { usePlayground } from './use-playground.ts';

/** What goes in: the messages, variables, settings and schemas. */
export function PlaygroundInputs(props: {
  readonly playground: ReturnType<typeof usePlayground>;
  readonly draft: Draft;
  readonly readOnly: boolean;
  readonly sets: ValueSets;
  readonly onFromExecution: () => void;
  readonly onSaveValues: () => void;
}) {
  const { playground, draft, readOnly } = props;
  const { base, changed, discard } = playground.draft;
  const names = variablesOf(templatesOf(draft)).map(({ name }) => name);
  const { edit } = playground.actions;
  return (
    <div className={classes.inputs}>
      <VersionStatus base={base} changed={changed} onDiscard={discard} />
      <Section title="Messages" isOpen={isWide() || base === undefined}>
        <PromptTexts
          draft={draft}
          names={[...new Set([...names, ...(base?.variables ?? [])])]}
          readOnly={readOnly}
          target={null}
          onEdit={edit}
        />
      </Section>
      <VariablesCard {...props} />
      {/* The first version needs a model. */}
      <Section title="Model and settings" isOpen={base === undefined}>
        <ModelFields value={draft} onChange={edit} disabled={readOnly} />
        <ExtrasField draft={draft} readOnly={readOnly} onEdit={edit} />
      </Section>
      <Section title="Schemas" isOpen={false}>
        <SchemaEditors draft={draft} names={names} readOnly={readOnly} onEdit={edit} />
      </Section>
    </div>
  );
}

/** On narrow screens the results follow below: they should not be far away. */
const isWide = () => window.matchMedia('(width >= 80rem)').matches;

function Section(props: {
  readonly title: string;
  /** At first. */
  readonly isOpen: boolean;
  readonly children: ReactNode;
}) {
  const [isOpen, setOpen] = useState(props.isOpen);
  return (
    <details
      className={classes.section}
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>{props.title}</summary>
      {isOpen && <div className={classes.fields}>{props.children}</div>}
    </details>
  );
}

function VariablesCard(props: {
  readonly playground: ReturnType<typeof usePlayground>;
  readonly sets: ValueSets;
  readonly onFromExecution: () => void;
  readonly onSaveValues: () => void;
}) {
  const { values, setValues, inputs } = props.playground;
  const { names, files } = inputs;
  return (
    <Card title="Variables" actions={<ValuesMenu {...props} onFill={setValues} />}>
      {names.length === 0 ? (
        <p className={classes.note}>No variables in this version.</p>
      ) : (
        <ValuesFields
          fields={names.map((name) => ({
            name,
            required: !files.has(name),
            file: files.get(name),
          }))}
          values={values}
          onChange={setValues}
        />
      )}
    </Card>
  );
}

/** Fills the fields from an execution or a saved set, and saves them as a set. */
function ValuesMenu(props: {
  readonly sets: ValueSets;
  readonly onFill: (values: Record<string, string>) => void;
  readonly onFromExecution: () => void;
  readonly onSaveValues: () => void;
}) {
  const { sets, onFill, onFromExecution, onSaveValues } = props;
  return (
    <Menu width={240} onOpen={sets.refresh}>
      <Menu.Target>
        <Button size="compact-xs" variant="default">
          Fill or save
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={onFromExecution}>From an execution…</Menu.Item>
        {sets.sets.length > 0 && (
          <>
            <Menu.Label>Saved values</Menu.Label>
            {sets.sets.map(({ name, values }) => (
              <Menu.Item key={name} onClick={() => onFill({ ...values })}>
                <span dir="auto">{name}</span>
              </Menu.Item>
            ))}
          </>
        )}
        <Menu.Divider />
        <Menu.Item onClick={onSaveValues}>Save or delete values…</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
