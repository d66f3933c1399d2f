import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Suspense } from 'react';
import { lazyComponent } from '../../../components/loading/lazy-component.tsx';
import { ErrorState } from '../../../components/states/error-state.tsx';
import classes from '../../../components/versions/template-diff.module.css';
import { writeDefinition } from '../../../data/workflows/definition-text.ts';
import { workflowVersionQuery } from '../../../data/workflows/workflows.ts';

const TextDiff = lazyComponent(() => import('../../../components/versions/text-diff.tsx'));

/** The differences between two workflow versions. */
export function DefinitionDiff(props: {
  readonly workflowId: string;
  readonly before: string;
  readonly after: string;
}) {
  const before = useQuery(workflowVersionQuery(props.workflowId, props.before));
  const after = useQuery(workflowVersionQuery(props.workflowId, props.after));
  const error = before.error ?? after.error;
  if (error) return <ErrorState error={error} />;
  if (!before.data || !after.data) return <Skeleton height={240} />;
  const was = writeDefinition(before.data.definition, 'YAML');
  const is = writeDefinition(after.data.definition, 'YAML');
  const { workflowVersionLabel: beforeLabel } = before.data;
  const { workflowVersionLabel: afterLabel } = after.data;
  return (
    <div className={classes.diff}>
      <div className={classes.labels}>
        <span>{beforeLabel}</span>
        <span>{afterLabel}</span>
      </div>
      {was === is ? (
        <p className={classes.same}>No differences.</p>
      ) : (
        <Suspense fallback={<Skeleton height={240} />}>
          <TextDiff
            before={was}
            after={is}
            beforeLabel={`Definition of ${beforeLabel}`}
            afterLabel={`Definition of ${afterLabel}`}
          />
        </Suspense>
      )}
    </div>
  );
}
