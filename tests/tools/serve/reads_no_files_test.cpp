// A request reads no file of the machine, whatever key names one: the kernel tells of every file that is opened.
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <system_error>

#include "sim/io/embedded.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/schema/reference.hpp"
#include "tools/serve/site.hpp"

namespace weft {
namespace {

using Json = nlohmann::ordered_json;

// Tells whether a file of the folder, or a folder in it, was opened since it was asked last.
class OpenedFiles {
  public:
    explicit OpenedFiles(const std::filesystem::path& folder) : events_(inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
        if (events_ < 0 || inotify_add_watch(events_, folder.c_str(), IN_OPEN | IN_ACCESS) < 0) {
            throw std::system_error(errno, std::generic_category(), "inotify");
        }
    }
    ~OpenedFiles() { ::close(events_); }
    OpenedFiles(const OpenedFiles&) = delete;
    OpenedFiles& operator=(const OpenedFiles&) = delete;

    bool any() const {
        std::array<char, 4096> buffer{};
        bool some = false;
        while (::read(events_, buffer.data(), buffer.size()) > 0) some = true;
        return some;
    }

  private:
    int events_;
};

class reads_no_files : public testing::Test {
  protected:
    reads_no_files() {
        const std::string model(embedded::catalog().front().text);
        std::ofstream(folder_.path() / "secret.json") << model;
        std::ofstream(folder_.path() / "frontier") << model;  // as a machine is called
        std::ofstream(folder_.path() / "LUMI") << model;      // as a machine is called by others
        std::filesystem::current_path(folder_.path());
        opened_.any();  // these
    }
    ~reads_no_files() override { std::filesystem::current_path(before_); }

    unsigned post(const Json& job, const char* path = "/simulate") {
        return answer(site_, {.method = "POST", .target = path, .body = job.dump(), .host = "localhost:1"}).status;
    }

    const std::filesystem::path before_ = std::filesystem::current_path();
    const test::TemporaryFolder folder_;
    const OpenedFiles opened_{folder_.path()};
    const Site site_{.port = 1, .choices = {}};
};

TEST_F(reads_no_files, the_kernel_would_tell) {
    std::ifstream file("secret.json");
    EXPECT_TRUE(file.good() && opened_.any());
}

// Every text of a document, but for the words on where figures are from.
void each_text(Json& json, const std::function<void(Json&)>& visit) {
    if (json.is_string()) return visit(json);
    if (!json.is_structured()) return;
    for (const auto& [key, inner] : json.items()) {
        if (key != "source") each_text(inner, visit);
    }
}

TEST_F(reads_no_files, of_any_key_that_a_reader_knows) {
    std::size_t tried = 0;
    const auto try_all = [&](Json job) {
        job["batch"]["global"] = 0;  // a mistake that is told when all is read, so that nothing is simulated
        each_text(job, [&](Json& text) {
            const Json before = text;
            for (const std::string& name : {(folder_.path() / "secret.json").string(), std::string("secret.json"),
                                            std::string("file:secret.json")}) {
                text = name;
                EXPECT_EQ(post(job), 422u);
                EXPECT_FALSE(opened_.any()) << job.dump(1);
                ++tried;
            }
            text = before;
        });
    };
    for (const embedded::File& file : files_of("job")) try_all(Json::parse(file.text, nullptr, true, true));
    const Json plain{{"machine", "dgx-h100"}, {"model", "llama3-8b"}, {"nodes", 1}, {"batch", {{"global", 8}}}};
    for (const char* kind : {"machine", "model"}) {
        for (const embedded::File& file : files_of(kind)) {
            const bool shipped = !file.name.starts_with(kind);
            if (shipped && file.name != "frontier" && file.name != "dgx-h800") continue;
            Json job = plain;
            job[kind] = Json::parse(file.text, nullptr, true, true);
            try_all(job);
        }
    }
    EXPECT_GT(tried, 300u);
}

TEST_F(reads_no_files, of_what_other_tools_launch) {
    const std::string script =
        "pretrain_gpt.py --num-layers 8 --hidden-size 512 --num-attention-heads 8 --bf16 --seq-length 256 "
        "--max-position-embeddings 256 --micro-batch-size 2 --global-batch-size 64 --vocab-size 999\n";
    const std::string secret = (folder_.path() / "secret.json").string();
    const auto status = [&](const std::string& target, const std::string& body) {
        return answer(site_, {.method = "POST", .target = target, .body = body, .host = "localhost:1"}).status;
    };
    EXPECT_EQ(status("/job.json?machine=frontier&nodes=1", script), 200u) << "also a file here";
    for (const std::string& named : {"machine=" + secret, "model=" + secret, "machine.extends=" + secret,
                                     std::string("model=secret.json"), "fabric.placement=file:" + secret}) {
        const std::string comment = "# weft: " + named + "\n";
        const std::string commented = comment + "# weft: machine.extends=LUMI\n" + script;
        EXPECT_EQ(status("/job.json?nodes=1", comment + script), 422u) << named;
        EXPECT_NE(status("/job.json?machine=dgx-h100&nodes=1", commented), 500u) << "what is asked for counts";
        EXPECT_EQ(status("/job.json?machine=dgx-h100&nodes=1&" + named, script), 422u) << named;
        EXPECT_FALSE(opened_.any()) << named;
    }
    EXPECT_EQ(status("/job.json?machine=dgx-h100&nodes=1", script + "--deepspeed --deepspeed_config " + secret + "\n"),
              200u);
    EXPECT_EQ(status("/job.json?machine=dgx-h100&nodes=1", "extends:\n  - secret.json\n"), 422u);
    EXPECT_FALSE(opened_.any());
}

TEST_F(reads_no_files, that_are_called_as_what_weft_ships) {
    for (const char* machine : {"frontier", "LUMI"}) {
        const Json job{{"machine", machine}, {"model", "gpt-neox-1.3b"},  {"framework", "megatron"},
                       {"nodes", 1},         {"layout", {{"tensor", 8}}}, {"batch", {{"global", 8}}}};
        for (const char* path : {"/simulate", "/explain", "/job.json"}) EXPECT_EQ(post(job, path), 200u) << path;
        EXPECT_FALSE(opened_.any());
        Json changed = job;
        changed["machine"] = {{"extends", machine}, {"libraries[0].tuner", "secret.json"}};
        EXPECT_EQ(post(changed), 422u);
        EXPECT_FALSE(opened_.any());
    }
}

}  // namespace
}  // namespace weft
