import * as agents from './agents/agents.ts';
import * as declaration from './agents/declaration.ts';
import * as prompts from './agents/prompts.ts';
import * as eventEndpoints from './events/endpoints.ts';
import * as events from './events/events.ts';
import * as erasures from './executions/erasures.ts';
import * as executions from './executions/executions.ts';
import * as exports from './executions/export.ts';
import * as retention from './executions/retention.ts';
import * as statistics from './executions/statistics.ts';
import * as openai from './openai/openai.ts';
import * as system from './system.ts';
import * as schedules from './workflows/schedules.ts';
import * as webhooks from './workflows/webhooks.ts';
import * as workflowRuns from './workflows/workflow-runs.ts';
import * as workflows from './workflows/workflows.ts';
import * as audit from './workspace/audit.ts';
import * as keys from './workspace/keys.ts';
import * as members from './workspace/members.ts';
import * as providers from './workspace/providers.ts';
import * as usage from './workspace/usage.ts';

/** Every operation of the public API, by id. */
export const endpoints = {
  executeAgent: executions.executeAgent,
  getExecution: executions.getExecution,
  streamExecution: executions.streamExecution,
  cancelExecution: executions.cancelExecution,
  deleteExecution: erasures.deleteExecution,
  listExecutions: executions.listExecutions,
  listExecutionsUnversioned: executions.listExecutionsUnversioned,
  listAllExecutions: executions.listAllExecutions,
  exportExecutions: exports.exportExecutions,
  exportAllExecutions: exports.exportAllExecutions,
  executeAgentInDashboard: executions.executeAgentInDashboard,
  createResponse: openai.createResponse,
  getResponse: openai.getResponse,
  cancelResponse: openai.cancelResponse,
  deleteResponse: openai.deleteResponse,
  listResponseInputItems: openai.listResponseInputItems,
  createChatCompletion: openai.createChatCompletion,
  listModels: openai.listModels,
  getModel: openai.getModel,
  getStatistics: statistics.getStatistics,
  getWorkspaceStatistics: statistics.getWorkspaceStatistics,
  createAgent: agents.createAgent,
  listAgents: agents.listAgents,
  getAgent: agents.getAgent,
  updateAgent: agents.updateAgent,
  deleteAgent: agents.deleteAgent,
  changeAgentStage: agents.changeAgentStage,
  getAgentLimits: agents.getAgentLimits,
  listPins: agents.listPins,
  createPrompt: prompts.createPrompt,
  listPrompts: prompts.listPrompts,
  getPrompt: prompts.getPrompt,
  updatePrompt: prompts.updatePrompt,
  archivePrompt: prompts.archivePrompt,
  restorePrompt: prompts.restorePrompt,
  createPromptVersion: prompts.createPromptVersion,
  listPromptVersions: prompts.listPromptVersions,
  getPromptVersion: prompts.getPromptVersion,
  createWorkflow: workflows.createWorkflow,
  listWorkflows: workflows.listWorkflows,
  getWorkflow: workflows.getWorkflow,
  updateWorkflow: workflows.updateWorkflow,
  deleteWorkflow: workflows.deleteWorkflow,
  validateWorkflow: workflows.validateWorkflow,
  createWorkflowVersion: workflows.createWorkflowVersion,
  listWorkflowVersions: workflows.listWorkflowVersions,
  getWorkflowVersion: workflows.getWorkflowVersion,
  listWorkflowPins: workflows.listWorkflowPins,
  executeWorkflow: workflowRuns.executeWorkflow,
  executeWorkflowInDashboard: workflowRuns.executeWorkflowInDashboard,
  listWorkflowRuns: workflowRuns.listWorkflowRuns,
  getWorkflowRun: workflowRuns.getWorkflowRun,
  streamWorkflowRun: workflowRuns.streamWorkflowRun,
  listWorkflowRunItems: workflowRuns.listWorkflowRunItems,
  cancelWorkflowRun: workflowRuns.cancelWorkflowRun,
  createSchedule: schedules.createSchedule,
  listSchedules: schedules.listSchedules,
  getSchedule: schedules.getSchedule,
  updateSchedule: schedules.updateSchedule,
  deleteSchedule: schedules.deleteSchedule,
  createWebhook: webhooks.createWebhook,
  listWebhooks: webhooks.listWebhooks,
  rotateWebhook: webhooks.rotateWebhook,
  deleteWebhook: webhooks.deleteWebhook,
  receiveWebhook: webhooks.receiveWebhook,
  getDeclaration: declaration.getDeclaration,
  applyDeclaration: declaration.applyDeclaration,
  createEndpoint: eventEndpoints.createEndpoint,
  listEndpoints: eventEndpoints.listEndpoints,
  getEndpoint: eventEndpoints.getEndpoint,
  updateEndpoint: eventEndpoints.updateEndpoint,
  deleteEndpoint: eventEndpoints.deleteEndpoint,
  rotateEndpoint: eventEndpoints.rotateEndpoint,
  testEndpoint: eventEndpoints.testEndpoint,
  listDeliveries: eventEndpoints.listDeliveries,
  resendDelivery: eventEndpoints.resendDelivery,
  replayDeliveries: eventEndpoints.replayDeliveries,
  listEvents: events.listEvents,
  createKey: keys.createKey,
  listKeys: keys.listKeys,
  revokeKey: keys.revokeKey,
  rotateKey: keys.rotateKey,
  getUsage: usage.getUsage,
  setPlan: usage.setPlan,
  putProvider: providers.putProvider,
  listProviders: providers.listProviders,
  getProvider: providers.getProvider,
  deleteProvider: providers.deleteProvider,
  testProvider: providers.testProvider,
  listPrices: providers.listPrices,
  putPrice: providers.putPrice,
  deletePrice: providers.deletePrice,
  getRetention: retention.getRetention,
  setRetention: retention.setRetention,
  createErasure: erasures.createErasure,
  listErasures: erasures.listErasures,
  getErasure: erasures.getErasure,
  listAudit: audit.listAudit,
  deleteMe: members.deleteMe,
  getMe: members.getMe,
  listMembers: members.listMembers,
  updateMember: members.updateMember,
  removeMember: members.removeMember,
  createInvitation: members.createInvitation,
  listInvitations: members.listInvitations,
  deleteInvitation: members.deleteInvitation,
  getInvitation: members.getInvitation,
  acceptInvitation: members.acceptInvitation,
  listIdentityProviders: members.listIdentityProviders,
  getHealth: system.getHealth,
  getReadiness: system.getReadiness,
  getMetrics: system.getMetrics,
  getOpenapi: system.getOpenapi,
  getDocs: system.getDocs,
} as const;

export type Endpoints = typeof endpoints;
export type EndpointId = keyof Endpoints;
