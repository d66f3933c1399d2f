import { Button, Group, MultiSelect, NativeSelect, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import fields from '../../../components/fields/fields.module.css';
import {
  type DefinitionPath,
  removeStep,
  renameStep,
  setValue,
} from '../../../data/workflows/definition-edit.ts';
import { availableReferences, texts } from '../../../data/workflows/references.ts';
import { stepsOf } from '../../../data/workflows/workflow-graph.ts';
import { ConfirmButton } from '../../../kit/confirm-dialog.tsx';
import { FallbackFields } from './fallback-fields.tsx';
import { ForEachFields } from './for-each-fields.tsx';
import { agentIdOf, type EditedStep, type Fields, StepAgent } from './step-agent.tsx';
import { VariablesFields } from './step-values.tsx';

/** Edits one step; each change is written to the definition at once. */
export function StepForm(props: EditedStep & { readonly onClose: () => void }) {
  const { definition, resolved, index, onEdit, onClose } = props;
  const steps = stepsOf(definition);
  const step = steps[index] ?? {};
  const resolvedStep = stepsOf(resolved)[index] ?? {};
  const name = typeof step.name === 'string' ? step.name : '';
  const others = steps.flatMap((one, at) =>
    at !== index && typeof one.name === 'string' ? one.name : [],
  );
  const references = referencesFor(definition, step);
  const at = ['steps', index];
  const remove = () => {
    onClose();
    onEdit(removeStep(index));
  };
  return (
    <Stack gap="md">
      <StepName
        key={name}
        name={name}
        others={others}
        onRename={(to) => onEdit(renameStep(index, to))}
      />
      <StepAgent
        definition={definition}
        step={step}
        resolved={resolvedStep}
        at={at}
        onEdit={onEdit}
      />
      <VariablesFields
        agentId={agentIdOf(resolvedStep)}
        path={[...at, 'variables']}
        values={step.variables}
        references={references}
        onEdit={onEdit}
      />
      <ForEachFields step={step} references={references} at={at} onEdit={onEdit} />
      <StartFields {...props} step={step} at={at} others={others} />
      <FallbackFields {...props} at={[...at, 'fallback']} references={references} />
      <FailureFields {...props} step={step} at={at} />
      <Group justify="space-between">
        <Button variant="default" size="xs" onClick={onClose}>
          Done
        </Button>
        <ConfirmButton
          label="Delete step"
          title={name ? `Delete the step ${name}?` : 'Delete this step?'}
          action={remove}
        >
          Its settings are discarded. References to it in other steps become problems.
        </ConfirmButton>
      </Group>
    </Stack>
  );
}

interface SectionProps extends EditedStep {
  readonly step: Fields;
  readonly at: DefinitionPath;
}

/** What the step waits for, and whether it is executed. */
function StartFields(props: SectionProps & { readonly others: readonly string[] }) {
  const { step, at, others, onEdit } = props;
  return (
    <>
      <TextInput
        label="Condition"
        description="The step is skipped unless it is true"
        placeholder="steps.triage.output.kind != 'spam'"
        spellCheck={false}
        styles={{ input: { fontFamily: 'var(--mono)' } }}
        value={typeof step.when === 'string' ? step.when : ''}
        onChange={({ currentTarget }) =>
          onEdit(setValue([...at, 'when'], currentTarget.value || undefined))
        }
      />
      {others.length > 0 && (
        <MultiSelect
          label="Wait for"
          description="Besides the steps that it refers to"
          data={[...new Set(others)]}
          value={texts(step.after)}
          onChange={(names) =>
            onEdit(setValue([...at, 'after'], names.length > 0 ? names : undefined))
          }
        />
      )}
    </>
  );
}

function FailureFields({ step, at, onEdit }: SectionProps) {
  // The default is not written.
  const set = (field: string, value: string) =>
    onEdit(setValue([...at, field], value === 'fail' ? undefined : value));
  return (
    <div className={fields.halves}>
      <NativeSelect
        label="If it fails"
        data={[
          { value: 'fail', label: 'The workflow run fails' },
          { value: 'continue', label: 'Continue without its output' },
        ]}
        value={step.onFailure === 'continue' ? 'continue' : 'fail'}
        onChange={({ currentTarget }) => set('onFailure', currentTarget.value)}
      />
      <NativeSelect
        label="If its output is not JSON"
        data={[
          { value: 'fail', label: 'Steps that read into it fail' },
          { value: 'null', label: 'Values in it are null' },
        ]}
        value={step.onUnreadable === 'null' ? 'null' : 'fail'}
        onChange={({ currentTarget }) => set('onUnreadable', currentTarget.value)}
      />
    </div>
  );
}

/** The references that the values of a step may contain. */
function referencesFor(definition: unknown, { name, forEach }: Fields): string[] {
  const own = `steps.${name}.output`;
  const all = availableReferences(definition).filter((one) => one !== own);
  return forEach ? ['item', 'index', ...all] : all;
}

/** A rename is written when the field loses the focus, with all references to the step. */
function StepName(props: {
  readonly name: string;
  readonly others: readonly string[];
  readonly onRename: (to: string) => void;
}) {
  const { name, others, onRename } = props;
  const [typed, setTyped] = useState(name);
  const problem = !/^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(typed)
    ? 'Letters, digits and _, at most 64, not starting with a digit.'
    : others.includes(typed)
      ? 'Another step has this name.'
      : undefined;
  const rename = () => {
    if (typed !== name && problem === undefined) onRename(typed);
  };
  return (
    <TextInput
      label="Name"
      description="References to the step are renamed with it"
      spellCheck={false}
      value={typed}
      error={problem}
      onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      onBlur={rename}
      onKeyDown={({ key }) => {
        if (key === 'Enter') rename();
      }}
    />
  );
}
