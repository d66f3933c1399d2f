import { Skeleton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Card, DescriptionList } from '../../../components/layout/card.tsx';
import { ErrorState } from '../../../components/states/error-state.tsx';
import { can, useMe } from '../../../data/workspace/me.ts';
import { retentionQuery } from '../../../data/workspace/retention.ts';
import { Erasures } from './erasures.tsx';
import { formatDays } from './format-days.ts';
import { RetentionForm } from './retention-form.tsx';

export function RetentionPage() {
  const owner = can(useMe(), 'manage');
  const retention = useQuery(retentionQuery);
  const { data } = retention;
  return (
    <>
      <Card title="Retention">
        <p className="intro">
          Applies to all agents without their own settings. The bodies of a record are its
          variables, prompts and output; they can be deleted before the record. Statistics are not
          deleted.
        </p>
        {retention.isError && !data ? (
          <ErrorState error={retention.error} onRetry={() => void retention.refetch()} />
        ) : !data ? (
          <Skeleton className="form" height={140} />
        ) : owner ? (
          <RetentionForm retention={data} />
        ) : (
          <div className="form">
            <DescriptionList
              items={[
                ['Records', formatDays(data.recordsDays, 'forever')],
                ['Bodies', formatDays(data.bodiesDays, 'as long as their record')],
              ]}
            />
          </div>
        )}
      </Card>
      {owner && <Erasures />}
    </>
  );
}
