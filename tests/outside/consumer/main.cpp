// A program that knows weft by its installed header alone: the step of a job, with and without a change.
#include <cstdio>
#include <weft/weft.hpp>

int main(int count, char** arguments) {
    namespace w = weft::library;
    if (count < 2) return 2;
    try {
        const w::WarmJob job = w::WarmJob::open(arguments[1]);
        std::printf("%.17g\n", job.simulate().metric("step.time_s"));
        std::printf("%.17g\n", job.simulate({"batch.micro=2"}).metric("step.time_s"));
        job.simulate({"layout.tensr=8"});
    } catch (const w::InputError& error) {
        const w::Mistake& first = error.mistakes().at(0);
        std::printf("%s %s\n", first.key.c_str(), first.suggestions.at(0).c_str());
        return 0;
    }
    return 1;
}
