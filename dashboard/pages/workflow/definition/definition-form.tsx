import { Button, Stack, TagsInput } from '@mantine/core';
import { Icon } from '../../../components/icon.tsx';
import { useResolvedDefinition } from '../../../data/workflows/agents-by-name.ts';
import { setValue } from '../../../data/workflows/definition-edit.ts';
import { inputOf, texts } from '../../../data/workflows/references.ts';
import { graphSteps, stepsOf } from '../../../data/workflows/workflow-graph.ts';
import type { EditedStep } from '../steps/step-agent.tsx';
import { StepForm } from '../steps/step-form.tsx';
import classes from './definition.module.css';

/** The definition as a form: the selected step, or the inputs and the list of steps. */
export function DefinitionForm(
  props: Pick<EditedStep, 'definition' | 'onEdit'> & {
    /** The position of the selected step. */
    readonly chosen: number | null;
    readonly onChoose: (index: number | null) => void;
    readonly onAdd: () => void;
  },
) {
  const { definition, chosen, onChoose, onEdit, onAdd } = props;
  const { definition: resolved } = useResolvedDefinition(definition);
  if (definition === undefined) {
    return <p className={classes.form}>The text cannot be parsed. Correct it as text first.</p>;
  }
  if (chosen !== null && stepsOf(definition)[chosen]) {
    return (
      <div className={classes.form}>
        <StepForm
          key={chosen}
          definition={definition}
          resolved={resolved}
          index={chosen}
          onEdit={onEdit}
          onClose={() => onChoose(null)}
        />
      </div>
    );
  }
  const { required, optional } = inputOf(definition);
  const setInput = (field: string, names: readonly string[]) =>
    onEdit(setValue(['input', field], names.length > 0 ? [...names] : undefined));
  return (
    <Stack gap="md" className={classes.form ?? ''}>
      <TagsInput
        label="Required input"
        description="Names that every workflow run must supply"
        value={texts(required)}
        onChange={(names) => setInput('required', names)}
      />
      <TagsInput
        label="Optional input"
        description="Names that a workflow run may supply"
        value={texts(optional)}
        onChange={(names) => setInput('optional', names)}
      />
      <div>
        <h3 className={classes.label}>Steps</h3>
        <ul className={classes.stepList}>
          {graphSteps(definition).map(({ index, name }) => (
            <li key={index}>
              <button type="button" onClick={() => onChoose(index)}>
                {name}
              </button>
            </li>
          ))}
        </ul>
        <Button
          size="xs"
          variant="default"
          leftSection={<Icon name="plus" size={12} />}
          aria-label="Add step to the definition"
          onClick={onAdd}
        >
          Add step
        </Button>
      </div>
    </Stack>
  );
}
