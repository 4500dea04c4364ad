// A server written with the second line of the TypeScript SDK: node mcp_sums.mjs [PORT [reject]], where `reject` serves
// no revision before 2026-07-28.
import { writeFileSync } from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

// The packages are where the tests put them, and not beside this file.
const require = createRequire(pathToFileURL(`${process.env.SERVERS}/`));
const load = name => import(pathToFileURL(require.resolve(name)));
const { McpServer, createMcpHandler, inputRequired } = (await load('@modelcontextprotocol/server'));
const { serveStdio } = (await load('@modelcontextprotocol/server/stdio'));
const { z } = (await load('zod'));

function sums() {
    const server = new McpServer({ name: 'sums', version: '1' }, { capabilities: { tools: {} } });
    const a = z.number(), b = z.number();
    server.registerTool('add', { inputSchema: z.object({ a, b }), outputSchema: z.object({ sum: z.number() }) }, ({ a, b }) => {
        const structuredContent = { sum: a + b };
        return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
    });
    server.registerTool('link', { inputSchema: z.object({}) }, () => (
        { content: [{ type: 'resource_link', uri: 'sums://all', name: 'all', description: 'every sum' }] }
    ));
    server.registerTool('ask', { inputSchema: z.object({}) }, (_, context) => {
        const given = context.mcpReq.inputResponses?.count;
        const requestedSchema = z.object({ count: z.number() });
        return given ? { content: [{ type: 'text', text: given.action }] }
            : inputRequired({ inputRequests: { count: inputRequired.elicit({ message: 'How many?', requestedSchema }) } });
    });
    server.registerTool('hang', { inputSchema: z.object({ file: z.string() }) }, ({ file }, context) => new Promise((_, fail) => {
        context.mcpReq.signal.addEventListener('abort', () => {
            writeFileSync(file, '');
            fail(new Error('aborted'));
        });
    }));
    server.registerTool('fail', { inputSchema: z.object({}) }, () => { throw new Error('not today'); });
    return server;
}

const [port, legacy] = process.argv.slice(2);
if (port === undefined || port === '-') {
    serveStdio(sums, legacy && { legacy });
} else {
    const handler = createMcpHandler(sums, legacy && { legacy });
    http.createServer(async (request, response) => {
        const chunks = [];
        for await (const chunk of request) chunks.push(chunk);
        const body = ['GET', 'HEAD'].includes(request.method) ? undefined : Buffer.concat(chunks);
        const url = `http://${request.headers.host}${request.url}`;
        // Who closes the connection takes the request back.
        const gone = new AbortController();
        response.on('close', () => gone.abort());
        const { method, headers } = request;
        const answer = await handler.fetch(new Request(url, { method, headers, body, signal: gone.signal }));
        response.writeHead(answer.status, Object.fromEntries(answer.headers));
        for await (const chunk of answer.body ?? []) response.write(chunk);
        response.end();
    }).listen(Number(port), '127.0.0.1');
}
