import { Skeleton, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Agent } from '../../../src/client/index.ts';
import { LimitBars } from '../../components/figures/limit-bars.tsx';
import { Card, DescriptionList } from '../../components/layout/card.tsx';
import { describeError } from '../../components/states/error-state.tsx';
import { agentLimitsQuery } from '../../data/agents/agents.ts';
import { formatCost, formatCount } from '../../data/text/format.ts';

/** The agent's limits and their current usage. */
export function LimitsCard({ agent }: { readonly agent: Agent }) {
  const limits = useQuery(agentLimitsQuery(agent.agentId));
  const { maxConcurrency, maxCostUSD } = agent.agentConfig;
  return (
    <Card title="Limits">
      <Stack gap="sm">
        {limits.data ? (
          limits.data.rateLimitUsage.length === 0 ? (
            <p className="note">No rate limits of its own; those of its keys apply.</p>
          ) : (
            <LimitBars usage={limits.data.rateLimitUsage} />
          )
        ) : limits.isError ? (
          <p className="note" role="alert">
            {describeError(limits.error).message}
          </p>
        ) : (
          <Skeleton height={64} />
        )}
        <DescriptionList
          items={[
            ['Max concurrency', maxConcurrency ? formatCount(maxConcurrency) : 'no limit'],
            ['Max cost per execution', maxCostUSD ? formatCost(maxCostUSD) : 'no limit'],
          ]}
        />
      </Stack>
    </Card>
  );
}
