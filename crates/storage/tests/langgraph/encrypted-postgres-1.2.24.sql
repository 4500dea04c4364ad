--
-- PostgreSQL database dump
--

\restrict d0U1QZik0yjyh21pHILu6VfqVDgJG8LgwQ76UTvYhzPYHt5uSeOY7q3VhZyNQjP

-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: checkpoint_blobs; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.checkpoint_blobs (
    thread_id text NOT NULL,
    checkpoint_ns text DEFAULT ''::text NOT NULL,
    channel text NOT NULL,
    version text NOT NULL,
    type text NOT NULL,
    blob bytea
);


--
-- Name: checkpoint_migrations; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.checkpoint_migrations (
    v integer NOT NULL
);


--
-- Name: checkpoint_writes; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.checkpoint_writes (
    thread_id text NOT NULL,
    checkpoint_ns text DEFAULT ''::text NOT NULL,
    checkpoint_id text NOT NULL,
    task_id text NOT NULL,
    idx integer NOT NULL,
    channel text NOT NULL,
    type text,
    blob bytea NOT NULL,
    task_path text DEFAULT ''::text NOT NULL
);


--
-- Name: checkpoints; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.checkpoints (
    thread_id text NOT NULL,
    checkpoint_ns text DEFAULT ''::text NOT NULL,
    checkpoint_id text NOT NULL,
    parent_checkpoint_id text,
    type text,
    checkpoint jsonb NOT NULL,
    metadata jsonb DEFAULT '{}'::jsonb NOT NULL
);


--
-- Data for Name: checkpoint_blobs; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob) FROM stdin;
sealed		__start__	00000000000000000000000000000001.0.4319938880430285	msgpack+aes	\\x196904e2e683666ee817db95582cb346d0b6435ed64c0da4cdfa67173048838928371608c0da77e3e0
sealed		log	00000000000000000000000000000002.0.5633057897922528	msgpack+aes	\\x3b25776a174fb32a4874b587b3c467de2ccb4bf43eb7e10865673f58fa6b9f27b4b9b6a6
sealed		log	00000000000000000000000000000003.0.01718917169217482	msgpack+aes	\\xaf488d62c63aba8fe98ec2c46c5560371ea2b72a4ecb20ff51a7eedb727fbf75bf781b4661997badda
sealed		secret	00000000000000000000000000000003.0.01718917169217482	msgpack+aes	\\xe5219237f2328fa6492c3ee2cd9fd34dc931aa6696bbc382dfb5a156d403ab60e3c25d501cd6d0356c1981613535744655c5856d6fb211
sealed		messages	00000000000000000000000000000003.0.01718917169217482	msgpack+aes	\\xfa09e30b5405ca965a6e26fb5905c1754314115535ab4291ea797029e305bd49b08b1e7a72d248b2000b2034f0e818c55317cac963f83b08e3310ca61504fea01e1027124ee9898c4c1b14aece151559d115909f46e3938956d221353cec1314fe2c1e59081d964a6f38d460f2a4a2efe95ac4be9eeb4c8eddf179439b4631dd8da51ab93aa096fe3f25b00a0494f850d7206b5705ec1ae8e8e4a7235fb6206604508826fc81bd851b2f94b3a8fde68828
\.


--
-- Data for Name: checkpoint_migrations; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.checkpoint_migrations (v) FROM stdin;
0
1
2
3
4
5
6
7
8
9
\.


--
-- Data for Name: checkpoint_writes; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob, task_path) FROM stdin;
sealed		1f1eccbc-15db-66ad-bfff-e2af800e7e7d	f245250b-ce11-fd4f-3442-c8980796e509	0	log	msgpack+aes	\\xc1038130f76da66d06eeecc940a314b91e760317ba573c5d7b352cd521325baa1a6600b8	~__pregel_pull, __start__
sealed		1f1eccbc-15db-66ad-bfff-e2af800e7e7d	f245250b-ce11-fd4f-3442-c8980796e509	1	branch:to:keep	null+aes	\\x9b04c12fc21ee1df2447c99bf6d16c5c3a50ff039b88624bf938bb9a653464be	~__pregel_pull, __start__
sealed		1f1eccbc-1638-6323-8001-2471836131f0	8f81d409-8a76-bef9-72ed-2d7e93be9c9a	-3	__interrupt__	msgpack+aes	\\xcbdcb6689151280f9d6a696ab0d1e5ffe086e843763ad5dbf3d5d87c054c94106717cb15b4efed2963062347efcc3723b77067a85e80a603de6a0a44570d632eda52374c69baf3447c92529c250e4c7ad31636a903ebb1681acfa0b9f891200728c57e05165a3e0ae3dd5f32ee61a845ebf80a68c25e56669ec635a4e2658949de6a743e8702e581cddb977671a60c7909a92de1361588fc9ea7e7	~__pregel_pull, ask
sealed		1f1eccbc-15df-6555-8000-4d243f7317f9	c2766259-7589-ca1c-db3c-a6c235b18662	0	log	msgpack+aes	\\x06b352f3855c307572ac67c53e76d700cbda8a76f90d6d461045e0b78b54f5016f637b2836d1	~__pregel_pull, keep
sealed		1f1eccbc-15df-6555-8000-4d243f7317f9	c2766259-7589-ca1c-db3c-a6c235b18662	1	secret	msgpack+aes	\\xe3f6cf49cae6f74a70f1b4c1bf34749d3a831bc514fe97210f80028aa3aae342ec10c110de7aff117181a3495a6deb3cc931721de0b6cf	~__pregel_pull, keep
sealed		1f1eccbc-15df-6555-8000-4d243f7317f9	c2766259-7589-ca1c-db3c-a6c235b18662	2	messages	msgpack+aes	\\x161cb6a52700bbf068077fdfc13959a0abdda645006fb8524819c740d444482bfdafafa3a4fb2d2c53d281f5085fa021e31a9fb58c632043b7b8fd6ec3ac31de914e55c57d198480147d3d06c370f34d91581b5b06aed445a3ff19faf5906815758ee10cd448994a5b55d0e966d9b5793f495783375e709fc742d33f2c1f17cb8188d87b814c7a5ebc4abaf47bbe5f2c939c497ee2a15b52dc82c1e1057ff284c11c3628202b8d18221c1b06d4a19e654e	~__pregel_pull, keep
sealed		1f1eccbc-15df-6555-8000-4d243f7317f9	c2766259-7589-ca1c-db3c-a6c235b18662	3	branch:to:ask	null+aes	\\x3bf5519f416120abc92d7edb46c579efc034e79c6042218df3648468beca6ae1	~__pregel_pull, keep
\.


--
-- Data for Name: checkpoints; Type: TABLE DATA; Schema: public; Owner: -
--

COPY public.checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata) FROM stdin;
sealed		1f1eccbc-15db-66ad-bfff-e2af800e7e7d	\N	\N	{"v": 4, "id": "1f1eccbc-15db-66ad-bfff-e2af800e7e7d", "ts": "2026-11-30T14:38:49.185643+00:00", "versions_seen": {"__input__": {}}, "channel_values": {}, "channel_versions": {"__start__": "00000000000000000000000000000001.0.4319938880430285"}, "updated_channels": ["__start__"]}	{"step": -1, "source": "input", "parents": {}, "customer": "c-17"}
sealed		1f1eccbc-15df-6555-8000-4d243f7317f9	1f1eccbc-15db-66ad-bfff-e2af800e7e7d	\N	{"v": 4, "id": "1f1eccbc-15df-6555-8000-4d243f7317f9", "ts": "2026-11-30T14:38:49.187243+00:00", "versions_seen": {"__input__": {}, "__start__": {"__start__": "00000000000000000000000000000001.0.4319938880430285"}}, "channel_values": {"branch:to:keep": null}, "channel_versions": {"log": "00000000000000000000000000000002.0.5633057897922528", "__start__": "00000000000000000000000000000002.0.5633057897922528", "branch:to:keep": "00000000000000000000000000000002.0.5633057897922528"}, "updated_channels": ["branch:to:keep", "log"]}	{"step": 0, "source": "loop", "parents": {}, "customer": "c-17"}
sealed		1f1eccbc-1638-6323-8001-2471836131f0	1f1eccbc-15df-6555-8000-4d243f7317f9	\N	{"v": 4, "id": "1f1eccbc-1638-6323-8001-2471836131f0", "ts": "2026-11-30T14:38:49.223634+00:00", "versions_seen": {"keep": {"branch:to:keep": "00000000000000000000000000000002.0.5633057897922528"}, "__input__": {}, "__start__": {"__start__": "00000000000000000000000000000001.0.4319938880430285"}}, "channel_values": {"branch:to:ask": null}, "channel_versions": {"log": "00000000000000000000000000000003.0.01718917169217482", "secret": "00000000000000000000000000000003.0.01718917169217482", "messages": "00000000000000000000000000000003.0.01718917169217482", "__start__": "00000000000000000000000000000002.0.5633057897922528", "branch:to:ask": "00000000000000000000000000000003.0.01718917169217482", "branch:to:keep": "00000000000000000000000000000003.0.01718917169217482"}, "updated_channels": ["branch:to:ask", "log", "messages", "secret"]}	{"step": 1, "source": "loop", "parents": {}, "customer": "c-17"}
\.


--
-- Name: checkpoint_blobs checkpoint_blobs_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.checkpoint_blobs
    ADD CONSTRAINT checkpoint_blobs_pkey PRIMARY KEY (thread_id, checkpoint_ns, channel, version);


--
-- Name: checkpoint_migrations checkpoint_migrations_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.checkpoint_migrations
    ADD CONSTRAINT checkpoint_migrations_pkey PRIMARY KEY (v);


--
-- Name: checkpoint_writes checkpoint_writes_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.checkpoint_writes
    ADD CONSTRAINT checkpoint_writes_pkey PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx);


--
-- Name: checkpoints checkpoints_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.checkpoints
    ADD CONSTRAINT checkpoints_pkey PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id);


--
-- Name: checkpoint_blobs_thread_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX checkpoint_blobs_thread_id_idx ON public.checkpoint_blobs USING btree (thread_id);


--
-- Name: checkpoint_writes_thread_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX checkpoint_writes_thread_id_idx ON public.checkpoint_writes USING btree (thread_id);


--
-- Name: checkpoints_thread_id_idx; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX checkpoints_thread_id_idx ON public.checkpoints USING btree (thread_id);


--
-- PostgreSQL database dump complete
--

\unrestrict d0U1QZik0yjyh21pHILu6VfqVDgJG8LgwQ76UTvYhzPYHt5uSeOY7q3VhZyNQjP

