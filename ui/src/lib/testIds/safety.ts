/** Test ids of trust and of model connections. */
export const safetyIds = {
  trust: "trust",
  want: (what: string, name: string) => `trust-want-${what}-${name}`,
  allow: "trust-allow",
  later: "trust-later",
  project: "trust-project",
  grant: (what: string, name: string) => `trust-grant-${what}-${name}`,
  connections: "connections",
  connection: (name: string) => `connection-${name}`,
  addConnection: "connection-add",
  connectionName: "connection-name",
  connectionUrl: "connection-url",
  connectionSecret: "connection-secret",
  connectionVariable: "connection-variable",
  testConnection: "connection-test",
  tested: "connection-tested",
  saveConnection: "connection-save",
} as const;
