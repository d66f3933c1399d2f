import { Button, Group, Stack, Textarea } from '@mantine/core';
import { type FormEvent, useState } from 'react';
import { type ExecutionDetail, useRunAgain } from '../../data/executions.ts';
import { objectOf } from '../../data/json-object.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { FormProblem } from '../../parts/form-problem.tsx';

/** The same values or others, in the version that the agent has pinned now. */
export default function RunAgain(props: {
  readonly run: ExecutionDetail;
  readonly onClose: () => void;
  readonly onStarted: (executionId: string) => void;
}) {
  const { run, onClose, onStarted } = props;
  const [typed, setTyped] = useState(JSON.stringify(run.inputVariables ?? {}, null, 2));
  const again = useRunAgain(run.agentId);
  const variables = objectOf(typed);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!variables) return;
    again.mutate(variables, {
      onSuccess: ({ executionId }) => {
        onClose();
        onStarted(executionId);
      },
    });
  };
  return (
    <Dialog
      title={`Run ${run.agentName} again`}
      size="lg"
      locked={again.isPending}
      onClose={onClose}
    >
      <form onSubmit={submit}>
        <Stack gap="md">
          <p>
            It runs with the version that is pinned now, spends an AI Action, and is recorded with
            the source “dashboard”.
          </p>
          <Textarea
            label="Variables"
            description="A JSON object: variable name to value"
            autosize
            minRows={4}
            maxRows={18}
            spellCheck={false}
            styles={{ input: { fontFamily: 'var(--mono)', fontSize: '0.78125rem' } }}
            value={typed}
            error={variables ? undefined : 'It is not a JSON object.'}
            onChange={({ currentTarget }) => setTyped(currentTarget.value)}
          />
          <FormProblem error={again.error} />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Close
            </Button>
            <Button type="submit" disabled={!variables} loading={again.isPending}>
              Run
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
