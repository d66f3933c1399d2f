import { Button, Group, Skeleton } from '@mantine/core';
import { useSessionStorage } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useMemo } from 'react';
import type { Agent } from '../../../src/client/index.ts';
import { EmptyState } from '../../components/empty-state.tsx';
import { NameFields } from '../../components/fields/name-fields.tsx';
import { FormError } from '../../components/form-error.tsx';
import { useNavigateFrom } from '../../components/hooks/use-navigate-from.ts';
import { PageHeader } from '../../components/page-header.tsx';
import { agentsQuery } from '../../data/agents/agents.ts';
import { type DefinitionFormat, writeDefinition } from '../../data/workflows/definition-text.ts';
import { useCreateWorkflow, type WorkflowDefinition } from '../../data/workflows/workflows.ts';
import { can, useMe } from '../../data/workspace/me.ts';
import DefinitionEditor from '../workflow/definition-editor.tsx';
import classes from './workflows.module.css';

/** Creates a workflow and pins its first version. */
export function NewWorkflowPage() {
  const canEdit = can(useMe(), 'edit');
  const agents = useQuery(agentsQuery({ limit: 1, status: 'Deployed' }));
  return (
    <>
      <PageHeader
        title="New workflow"
        parent={{ label: 'Workflows', to: '/workflows' }}
        description="Each step executes a deployed agent with values from the input or from earlier steps."
      />
      {!canEdit ? (
        <EmptyState icon="lock" title="Creating workflows requires the editor role" />
      ) : agents.isPending ? (
        <Skeleton height={480} />
      ) : (
        <Form first={agents.data?.agents[0]} />
      )}
    </>
  );
}

interface Draft {
  readonly name: string;
  readonly description: string;
  readonly text: string;
  readonly format: DefinitionFormat;
}

const blank = { name: '', description: '', format: 'YAML' } as const;

function Form({ first }: { readonly first: Agent | undefined }) {
  // Kept until the workflow is created, across pages.
  const [draft, store, discard] = useSessionStorage<Draft | null>({
    key: `cueline-new-workflow-${useMe().workspaceId}`,
    defaultValue: null,
    getInitialValueInEffect: false,
  });
  const example = useMemo(() => writeDefinition(exampleOf(first), 'YAML'), [first]);
  const { text, format, ...about } = draft ?? { ...blank, text: example };
  const edit = (change: Partial<Draft>) => store({ ...about, text, format, ...change });
  const navigateFrom = useNavigateFrom('/workflows/new');
  const create = useCreateWorkflow(({ workflowId }) => {
    void navigateFrom({ to: '/workflows/$workflowId', params: { workflowId } }).then(discard);
  });
  const submit = (event: FormEvent, definition: unknown) => {
    event.preventDefault();
    // The server has validated it.
    const workflow = { ...about, definition: definition as WorkflowDefinition };
    create.mutate({ ...workflow, description: about.description || null });
  };
  return (
    <div className={classes.form}>
      <div className={classes.about}>
        <NameFields
          name={about.name}
          description={about.description}
          onChange={edit}
          error={create.error}
        />
      </div>
      <DefinitionEditor
        text={text}
        format={format}
        readOnly={false}
        onChange={(text, format) => edit({ text, format })}
      >
        {({ definition, valid }) => (
          <form className={classes.foot} onSubmit={(event) => submit(event, definition)}>
            <FormError error={create.error} />
            <Group gap="xs">
              <Button
                type="submit"
                loading={create.isPending}
                disabled={!valid || about.name.trim() === ''}
              >
                Create workflow
              </Button>
              {draft && (
                <Button variant="default" disabled={create.isPending} onClick={discard}>
                  Discard draft
                </Button>
              )}
            </Group>
          </form>
        )}
      </DefinitionEditor>
    </div>
  );
}

/** A template with one step that passes the input to an existing agent. */
function exampleOf(agent: Agent | undefined) {
  const names = agent?.requiredVariables ?? ['text'];
  return {
    input: { required: names },
    steps: [
      {
        name: 'first',
        agentId: agent?.agentId ?? 'agt_',
        variables: Object.fromEntries(names.map((name) => [name, `{{input.${name}}}`])),
      },
    ],
  };
}
